import { once, setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Settles as the promise does, or rejects with the signal's reason. */
export const abortable = async <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return await promise
  signal.throwIfAborted()
  // Many wait on one signal, that of a run; each leaves it again.
  setMaxListeners(0, signal)
  const left = new AbortController()
  const gone = once(signal, 'abort', { signal: left.signal }).then((): never => {
    throw signal.reason
  })
  // Usually nobody aborts, and it ends by leaving.
  gone.catch(() => undefined)
  try {
    return await Promise.race([promise, gone])
  } finally {
    left.abort()
  }
}

/** Waits, or rejects with the signal's reason. */
export const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
