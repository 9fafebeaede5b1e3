import { describe, expect, it } from 'vitest'
import { PipelineError } from '../../data/errors.ts'
import { withRetry } from '../../trainer/backoff.ts'

const busy = new PipelineError('worker', 'busy', { retryable: true })

/** Fails as often as told, then gives how often it was called. */
const failing = (error: Error, times: number) => {
  let calls = 0
  return async (): Promise<number> => {
    calls += 1
    if (calls <= times) throw error
    return calls
  }
}

describe('an action that may be repeated', () => {
  it('is repeated while its failure may pass, and no more often than told', async () => {
    expect(await withRetry(failing(busy, 2), { tries: 3, firstPauseMs: 1 })).toBe(3)
    await expect(withRetry(failing(busy, 3), { tries: 3, firstPauseMs: 1 })).rejects.toBe(busy)
  })

  it('is not repeated after a failure that another try cannot mend', async () => {
    const refused = new PipelineError('worker', 'refused')
    await expect(withRetry(failing(refused, 1), { tries: 3, firstPauseMs: 1 })).rejects.toBe(refused)
    const fault = new TypeError('a fault')
    await expect(withRetry(failing(fault, 1), { tries: 3, firstPauseMs: 1 })).rejects.toBe(fault)
  })

  it('gives up between two tries when it is aborted, with the reason of who aborted it', async () => {
    const gone = new AbortController()
    const reason = new Error('stopped by SIGINT')
    const action = async (): Promise<never> => {
      setImmediate(() => gone.abort(reason))
      throw busy
    }
    await expect(withRetry(action, { tries: 3, firstPauseMs: 600_000, signal: gone.signal })).rejects.toBe(reason)
  })
})
