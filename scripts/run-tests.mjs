/**
 * `npm test`: all tests, TypeScript and Python. The last line is the sum, `N passed, N failed`.
 * With `--checks` (continuous integration) every static check counts as one test.
 */
import process from 'node:process'
import { runChecks } from './tooling/checks.mjs'
import { runPytest, runVitest } from './tooling/suites.mjs'

/** @type {[name: string, counts: import('./tooling/suites.mjs').Counts][]} */
const results = []
if (process.argv.includes('--checks')) {
  const checks = runChecks()
  const passed = checks.filter((check) => check.passed).length
  results.push(['checks', { passed, failed: checks.length - passed, skipped: 0 }])
}
results.push(['vitest', runVitest()], ['pytest', runPytest()])

const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ key) =>
  results.reduce((total, [, counts]) => total + counts[key], 0)
const line = (/** @type {import('./tooling/suites.mjs').Counts} */ { passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

process.stdout.write('\n')
for (const [name, counts] of results) process.stdout.write(`  ${name.padEnd(7)} ${line(counts)}\n`)
process.stdout.write(`${line({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') })}\n`)
process.exitCode = sum('failed') === 0 ? 0 : 1
