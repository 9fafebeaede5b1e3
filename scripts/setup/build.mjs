import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { SetupError, say } from './report.mjs'
import { filesBelow, hashFiles, readStamp } from './stamp.mjs'

const layers = ['data', 'judge', 'rewards', 'trainer', 'configs', 'scripts']

/**
 * What dist/ would be made from, as one hash, and the hash that it was made from.
 * @param {string} root
 */
function stateOf(root) {
  const sources = layers.flatMap((layer) => filesBelow(join(root, layer), '.ts'))
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((name) => join(root, name))
  const stampFile = join(root, 'dist', 'drift-grpo.stamp')
  return {
    count: sources.length,
    wanted: hashFiles(root, [...sources, ...settings]),
    stampFile,
    found: readStamp(stampFile),
  }
}

/**
 * True when dist/ is what the sources compile to.
 * @param {string} root
 */
export function buildIsCurrent(root) {
  const { wanted, found } = stateOf(root)
  return wanted === found
}

/**
 * Compiles the TypeScript to dist/ when a source has changed since it was last compiled.
 * @param {string} root
 * @returns {boolean} whether there was anything to do
 */
export function setUpBuild(root) {
  const { count, wanted, stampFile, found } = stateOf(root)
  if (wanted === found) return false

  say(`compiling ${count} TypeScript files to dist/`)
  // A removed source must not live on as its old output.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new SetupError('the TypeScript sources do not compile; the compiler’s messages are above.')
  /** @type {Record<string, string>} */
  const bins = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).bin
  for (const bin of Object.values(bins)) chmodSync(join(root, bin), 0o755)
  writeFileSync(stampFile, `${wanted}\n`)
  return true
}
