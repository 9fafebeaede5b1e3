/**
 * Writes trainer/python/*.lock from the pins in trainer/python/*.txt: the same versions, each with the hashes of all its
 * files, which is what set-up installs. Needs `uv` on the PATH. torch stays out: its CPU and CUDA wheels differ.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'trainer', 'python')
const options = [
  '--no-deps',
  '--universal',
  '--generate-hashes',
  '--no-header',
  '--no-annotate',
  '--python-version',
  '3.11',
]

for (const name of ['requirements', 'requirements-dev', 'requirements-trl']) {
  const pins = readFileSync(join(folder, `${name}.txt`), 'utf8').replaceAll(/^torch==.*\n/gm, '')
  const uv = spawnSync('uv', ['pip', 'compile', ...options, '-'], { input: pins, encoding: 'utf8' })
  if (uv.status !== 0) {
    console.error(uv.error?.message ?? uv.stderr)
    process.exit(1)
  }
  writeFileSync(join(folder, `${name}.lock`), `# Written by scripts/lock-python.mjs from ${name}.txt.\n${uv.stdout}`)
}
