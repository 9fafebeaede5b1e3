import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Counts in vitest's JSON report. A file that could not even be loaded has no tests, and is one failure.
 * @param {string} text
 * @returns {Counts}
 */
export function countVitest(text) {
  const report = JSON.parse(text)
  /** @type {{status: string, assertionResults: unknown[]}[]} */
  const files = report.testResults
  const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/**
 * Counts in a JUnit report, as pytest writes it.
 * @param {string} xml
 * @returns {Counts}
 */
export function countJunit(xml) {
  const suite = /<testsuite\b[^>]*>/.exec(xml)?.[0] ?? ''
  const number = (/** @type {string} */ name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const failed = number('failures') + number('errors')
  const skipped = number('skipped')
  return { passed: Math.max(0, number('tests') - failed - skipped), failed, skipped }
}

/**
 * Set-up has just run: a test that lacks what it made must fail, where by hand it would be skipped.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(env) {
  return { ...env, DRIFT_GRPO_REQUIRE: '1' }
}

/** @param {Counts} counts */
export const countsLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/**
 * Tests remove their temporary directories: what they leave is one failure, and named.
 * @param {Counts} counts
 * @param {string} scratch directory that was theirs
 * @returns {Counts}
 */
export function withLeftovers(counts, scratch) {
  const left = readdirSync(scratch).filter((name) => name.startsWith('drift-grpo-'))
  if (left.length === 0) return counts
  process.stderr.write(`tests left ${left.length} temporary directories behind:\n`)
  // What lies in them says whose they are.
  const paths = left.flatMap((name) => [name, ...readdirSync(join(scratch, name), { recursive: true }).slice(0, 5)])
  process.stderr.write(`${paths.slice(0, 60).join('\n')}\n`)
  return { ...counts, failed: counts.failed + 1 }
}

/**
 * Runs one test runner. Whatever goes wrong counts: no report, or a failing exit code without a failed test, is one failure.
 * @param {{command: string, args: (report: string) => string[], cwd: string, count: (report: string) => Counts,
 *   env?: NodeJS.ProcessEnv}} suite
 * @returns {Counts}
 */
function run({ command, args, cwd, count, env }) {
  const folder = mkdtempSync(join(tmpdir(), 'drift-grpo-tests-'))
  const report = join(folder, 'report')
  const scratch = join(folder, 'tmp')
  mkdirSync(scratch)
  // One test is another user, and has to find its way in.
  chmodSync(folder, 0o755)
  try {
    const { status } = spawnSync(command, args(report), {
      cwd,
      stdio: ['ignore', 1, 2],
      env: testEnvironment({ ...process.env, ...env, TMPDIR: scratch }),
    })
    if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 }
    const counts = withLeftovers(count(readFileSync(report, 'utf8')), scratch)
    return { ...counts, failed: status === 0 ? counts.failed : Math.max(1, counts.failed) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The TypeScript tests, or those of some folders.
 * @param {readonly string[]} options of vitest
 * @param {NodeJS.ProcessEnv} env set beside what is set already
 */
export function runVitest(options = [], env = {}) {
  return run({
    command: process.execPath,
    args: (report) => [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      ...'run --config test/vitest.config.ts --root . --reporter=default --reporter=json'.split(' '),
      `--outputFile.json=${report}`,
      ...options,
    ],
    cwd: root,
    count: countVitest,
    env,
  })
}

/** The Python tests of the worker. */
export function runPytest() {
  return run({
    command: join(root, '.venv', 'bin', 'python'),
    args: (report) => ['-m', 'pytest', '-q', `--junitxml=${report}`, 'tests'],
    cwd: join(root, 'trainer', 'python'),
    count: countJunit,
  })
}
