import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
