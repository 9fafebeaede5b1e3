/**
 * `npm test`: all tests, TypeScript and Python. The last line is the sum, `N passed, N failed`.
 * With `--checks` (continuous integration) every static check counts as one test; with `--bench` what a step costs is
 * compared with what it did; with `--vllm` the tests against a real vLLM are one more part.
 */
import process from 'node:process'
import { runBench } from './tooling/bench.mjs'
import { runChecks } from './tooling/checks.mjs'
import { countsLine, runPytest, runVitest } from './tooling/suites.mjs'
import { runVllm } from './vllm-cpu/run.mjs'

/** @type {[name: string, counts: import('./tooling/suites.mjs').Counts][]} */
const results = []
if (process.argv.includes('--checks')) {
  const checks = runChecks()
  const passed = checks.filter((check) => check.passed).length
  results.push(['checks', { passed, failed: checks.length - passed, skipped: 0 }])
}
if (process.argv.includes('--bench')) results.push(['bench', runBench()])
results.push(['vitest', runVitest()], ['pytest', runPytest()])
if (process.argv.includes('--vllm')) results.push(['vllm', runVllm()])

const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ key) =>
  results.reduce((total, [, counts]) => total + counts[key], 0)
process.stdout.write('\n')
for (const [name, counts] of results) process.stdout.write(`  ${name.padEnd(7)} ${countsLine(counts)}\n`)
process.stdout.write(`${countsLine({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') })}\n`)
process.exitCode = sum('failed') === 0 ? 0 : 1
