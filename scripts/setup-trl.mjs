/**
 * Makes `.venv/trl`: an environment with TRL that borrows torch, transformers and the rest from `.venv`, so that it costs
 * a download of 70 MB (300 MB unpacked) and no second torch. A second run finds nothing to do. Set-up itself does not
 * need it; the test that trains with TRL is skipped without it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { SetupError, say, secondsSince } from './setup/report.mjs'
import { hashFiles, readStamp } from './setup/stamp.mjs'
import { lockOf } from './setup/venv.mjs'

const exitPreflight = 3
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const base = join(root, '.venv')
const venv = join(base, 'trl')
const stampFile = join(venv, 'drift-grpo.stamp')
const own = join(root, 'trainer', 'python', 'requirements-trl.txt')
const python = (/** @type {string} */ folder) => join(folder, 'bin', 'python')

/**
 * Runs a Python with its output on stderr, or returns what it prints.
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args) {
  const { status, stdout } = spawnSync(command, args, { stdio: ['ignore', 'pipe', 2], encoding: 'utf8' })
  if (status !== 0) throw new SetupError(`${args.join(' ')} failed (exit code ${status}); what it said is above.`)
  return stdout.trim()
}

function makeEnvironment() {
  say('making the environment .venv/trl')
  rmSync(venv, { recursive: true, force: true })
  const interpreter = run(python(base), ['-c', 'import sys; print(sys._base_executable)'])
  // Without pip: the one of .venv installs into it, and nothing in it hides a newer package of .venv.
  run(interpreter, ['-m', 'venv', '--without-pip', venv])
  const sitePackages = 'import sysconfig; print(sysconfig.get_path("purelib"))'
  const borrowed = run(python(base), ['-c', sitePackages])
  writeFileSync(join(run(python(venv), ['-c', sitePackages]), 'borrowed.pth'), `${borrowed}\n`)
}

function install() {
  say('installing TRL (70 MB to download)')
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--python', python(venv)]
  run(python(base), [...pip, 'install', '--quiet', '--no-deps', '--require-hashes', '-r', lockOf(own)])
  run(python(base), [...pip, 'check'])
}

const start = performance.now()
try {
  if (!existsSync(python(base))) throw new SetupError('there is no .venv yet: run npm run setup first.')
  const wanted = hashFiles(root, [own, lockOf(own), join(root, 'trainer', 'python', 'requirements.txt')])
  if (readStamp(stampFile) === wanted) say(`nothing to do (${secondsSince(start)})`)
  else {
    makeEnvironment()
    install()
    writeFileSync(stampFile, `${wanted}\n`)
    say(`TRL is ready: ${python(venv)} (${secondsSince(start)})`)
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  say(error.message)
  process.exitCode = exitPreflight
}
