import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const node = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name)
const python = (/** @type {string} */ name) => join(root, '.venv', 'bin', name)
const layers = ['data', 'judge', 'rewards', 'trainer', 'configs', 'scripts']

/** @type {readonly {name: string, command: string, args: readonly string[]}[]} */
const checks = [
  { name: 'generated files', command: node('tsx'), args: ['scripts/gen.ts', '--check'] },
  { name: 'types', command: node('tsc'), args: ['-p', '.', '--noEmit'] },
  { name: 'lint', command: node('oxlint'), args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', command: node('oxfmt'), args: ['--check'] },
  {
    name: 'import order',
    command: node('depcruise'),
    args: ['--config', '.dependency-cruiser.mjs', ...layers, 'test'],
  },
  { name: 'unused code', command: node('knip'), args: [] },
  { name: 'python lint', command: python('ruff'), args: ['check', '--quiet', 'trainer/python', 'scripts'] },
  {
    name: 'python format',
    command: python('ruff'),
    args: ['format', '--check', '--quiet', 'trainer/python', 'scripts'],
  },
]

/**
 * Runs every check and prints what the failing ones say.
 * @returns {{name: string, passed: boolean}[]}
 */
export function runChecks() {
  return checks.map(({ name, command, args }) => {
    const start = performance.now()
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const passed = status === 0
    if (!passed) process.stdout.write(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n`)
    process.stdout.write(`check ${passed ? 'passed' : 'FAILED'}: ${name} (${seconds} s)\n`)
    return { name, passed }
  })
}
