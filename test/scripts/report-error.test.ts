import { describe, expect, it } from 'vitest'
import { PipelineError } from '../../data/errors.ts'
import { reportError } from '../../scripts/report-error.ts'

const lost = new PipelineError('worker', 'the worker ended', {
  remedy: 'Resume the run.',
  cause: new Error('socket hang up'),
})

describe('an expected error', () => {
  it('becomes what failed and what to do, without a stack trace', () => {
    expect(reportError(lost).text).toBe('worker error: the worker ended\n  Resume the run.')
  })

  it('shows its whole chain of causes when debugging', () => {
    const { text } = reportError(lost, { debug: true })
    expect(text).toMatch(
      /^worker error: the worker ended\n {2}Resume the run\.\nWorkerError: the worker ended\n {4}at /,
    )
    expect(text).toContain('caused by Error: socket hang up\n    at ')
  })

  it.each([
    ['usage', 2, 2],
    ['config', 2, 2],
    ['setup', 3, 3],
    ['pool', 3, 3],
    ['worker', 3, 4],
    ['sampler', 3, 4],
    ['checkpoint', 3, 4],
  ] as const)('at the %s boundary ends with code %i before and %i in training', (boundary, before, during) => {
    const error = new PipelineError(boundary, 'x')
    expect(reportError(error).exitCode).toBe(before)
    expect(reportError(error, { startedTraining: true }).exitCode).toBe(during)
  })
})

describe('a refusal of the operating system', () => {
  it('is said in plain words with its path', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', path: '/runs/a' })
    expect(reportError(full)).toStrictEqual({ text: 'error: the disk is full: /runs/a', exitCode: 3 })
  })
})

describe('an unexpected error', () => {
  it('ends with code 1 and says how to see more', () => {
    const { text, exitCode } = reportError(new TypeError('x is undefined'))
    expect(exitCode).toBe(1)
    expect(text).toContain('unexpected error: TypeError: x is undefined')
    expect(text).toContain('DRIFT_GRPO_DEBUG=1')
    expect(text).not.toContain('    at ')
  })

  it('may be anything that was thrown', () => {
    expect(reportError('gone').text).toContain('unexpected error: gone')
  })
})
