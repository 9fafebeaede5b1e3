/**
 * Sets up what is missing, in place: Node packages, dist/, .venv. Plain JavaScript without dependencies, because it
 * runs before any are installed. `--dev` adds what tests and checks need. A second run finds nothing to do.
 */
import { performance } from 'node:perf_hooks'
import { dirname } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { setUpBrowser } from './setup/browser.mjs'
import { setUpBuild } from './setup/build.mjs'
import { setUpNodeModules } from './setup/node-modules.mjs'
import { SetupError, say, secondsSince } from './setup/report.mjs'
import { checkPython, setUpPython } from './setup/venv.mjs'

const exitPreflight = 3
const root = dirname(dirname(fileURLToPath(import.meta.url)))

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new SetupError(`Node 20.19 or newer is needed; this is ${process.versions.node}.`)
}

const start = performance.now()
const dev = process.argv.includes('--dev')
try {
  checkNode()
  checkPython(root)
  const changes = [
    setUpNodeModules(root),
    setUpBuild(root),
    await setUpPython(root, { dev }),
    dev && setUpBrowser(root),
  ]
  say(changes.includes(true) ? `ready (${secondsSince(start)})` : `nothing to do (${secondsSince(start)})`)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  say(error.message)
  process.exitCode = exitPreflight
}
