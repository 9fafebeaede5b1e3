import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countBench } from '../../../scripts/tooling/bench.mjs'
import { countJunit, countVitest, withLeftovers } from '../../../scripts/tooling/suites.mjs'
import { temporaryDirectory } from '../../support/temporary.ts'

describe('the sum of all tests', () => {
  it('counts a vitest file that does not load as a failure', () => {
    const report = {
      numPassedTests: 3,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 0,
      testResults: [
        { status: 'failed', assertionResults: [] },
        { status: 'failed', assertionResults: [{}] },
        { status: 'passed', assertionResults: [{}] },
      ],
    }
    expect(countVitest(JSON.stringify(report))).toStrictEqual({ passed: 3, failed: 2, skipped: 1 })
  })

  it('counts errors of pytest as failures', () => {
    const xml = '<testsuites><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.0">'
    expect(countJunit(xml)).toStrictEqual({ passed: 4, failed: 3, skipped: 3 })
  })

  it('counts a benchmark by its last line, and one that did not come so far as a failure', () => {
    const said = 'sample  0.37\nupdate  0.90\n1 passed, 1 failed\n'
    expect(countBench(said, 1)).toStrictEqual({ passed: 1, failed: 1, skipped: 0 })
    expect(countBench('2 passed, 0 failed\n', 0)).toStrictEqual({ passed: 2, failed: 0, skipped: 0 })
    expect(countBench('2 passed, 0 failed\n', null)).toStrictEqual({ passed: 2, failed: 1, skipped: 0 })
    expect(countBench('2 passed, 0 failed\nError: no model', 1)).toStrictEqual({ passed: 0, failed: 1, skipped: 0 })
    expect(countBench('', null)).toStrictEqual({ passed: 0, failed: 1, skipped: 0 })
  })

  it('counts an empty report as nothing', () => {
    expect(countJunit('')).toStrictEqual({ passed: 0, failed: 0, skipped: 0 })
  })
})

describe('temporary directories that tests leave', () => {
  it('are one failure', () => {
    const scratch = temporaryDirectory()
    const counts = { passed: 3, failed: 0, skipped: 1 }
    mkdirSync(join(scratch, 'node-compile-cache'))
    expect(withLeftovers(counts, scratch)).toEqual(counts)
    mkdirSync(join(scratch, 'drift-grpo-test-abc'))
    expect(withLeftovers(counts, scratch)).toEqual({ ...counts, failed: 1 })
  })
})
