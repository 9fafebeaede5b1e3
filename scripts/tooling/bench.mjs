import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Counts in the last line of a benchmark that checks something. Without that line, or with a failing exit code and no
 * failure in it, something else went wrong: one failure.
 * @param {string} stdout
 * @param {number | null} status
 * @returns {import('./suites.mjs').Counts}
 */
export function countBench(stdout, status) {
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(stdout.trimEnd().split('\n').at(-1) ?? '') ?? []
  if (passed === undefined) return { passed: 0, failed: 1, skipped: 0 }
  return { passed: Number(passed), failed: Math.max(Number(failed), status === 0 ? 0 : 1), skipped: 0 }
}

/** Whether a step still costs what it did: see test/bench/check.ts. */
export function runBench() {
  const { stdout, status, error } = spawnSync(
    join(root, 'node_modules', '.bin', 'tsx'),
    ['test/bench/run.ts', 'check'],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 2],
      encoding: 'utf8',
      timeout: 15 * 60 * 1000,
    },
  )
  process.stdout.write(stdout ?? '')
  if (error !== undefined) process.stderr.write(`the benchmark did not end: ${error.message}\n`)
  return countBench(stdout ?? '', status)
}
