import { setTimeout as sleep } from 'node:timers/promises'
import { PipelineError } from '../data/errors.ts'

export interface RetryOptions {
  /** Tries in all, the first one included. */
  readonly tries: number
  /** Pause before the second try; doubles each time up to five seconds, with a quarter of jitter either way. */
  readonly firstPauseMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Longest pause: a server that comes back is not kept waiting. */
const longestPauseMs = 5000

/** Repeats an idempotent action while it fails with a PipelineError that says it is retryable. */
export const withRetry = async <T>(action: () => Promise<T>, options: RetryOptions): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      const again = error instanceof PipelineError && error.retryable && options.signal?.aborted !== true
      if (!again || attempt >= options.tries) throw error
      const pause =
        Math.min((options.firstPauseMs ?? 200) * 2 ** (attempt - 1), longestPauseMs) * (0.75 + Math.random() / 2)
      await sleep(pause, undefined, { signal: options.signal }).catch((broken: unknown) => {
        // Whoever aborted knows it by its own reason.
        options.signal?.throwIfAborted()
        throw broken
      })
    }
  }
}
