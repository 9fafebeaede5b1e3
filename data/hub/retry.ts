import { setTimeout as sleep } from 'node:timers/promises'
import { retryAfter } from '../retry-after.ts'

export interface RetryOptions {
  readonly signal?: AbortSignal | undefined
  /** Told why and how long it waits. */
  readonly say?: ((text: string) => void) | undefined
}

const mostTries = 5
/** A hub that asks for more patience than this is not waited for. */
const longestWaitMs = 120_000

const passingStatus = new Set([429, 500, 502, 503, 504])
/** Of these the hub says that it did nothing; the others may come from a gateway that lost its answer. */
const refusingStatus = new Set([429, 503])
const brokenConnection = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'UND_ERR_SOCKET'])

const isBroken = (error: unknown): boolean => {
  const { code, cause } = error as { code?: string; cause?: unknown }
  if (code !== undefined && brokenConnection.has(code)) return true
  return typeof cause === 'object' && cause !== null && isBroken(cause)
}

/**
 * A commit whose answer was lost may have been made: sent again, it would be made twice. Every other request of an
 * upload may be repeated (a repository that is there already is no failure).
 */
const isRepeatable = (url: string, method: string): boolean => method !== 'POST' || !/\/commit\/[^/]+$/.test(url)

const urlOf = (input: Parameters<typeof fetch>[0]): string =>
  (typeof input === 'string' ? input : 'url' in input ? input.url : input.href).split('?', 1)[0] ?? ''

/** What came of one try: the answer, or why and how long to wait before the next. */
type Tried = { readonly response: Response } | { readonly why: string; readonly waitMs: number }

/** Throws what no further try would mend. */
const tryOnce = async (send: () => Promise<Response>, canRepeat: boolean, pauseMs: number): Promise<Tried> => {
  let response: Response
  try {
    response = await send()
  } catch (error) {
    if (!canRepeat || !isBroken(error)) throw error
    return { why: 'the connection to the hub broke', waitMs: pauseMs }
  }
  const waitMs = retryAfter(response.headers.get('retry-after'), Date.now()) ?? pauseMs
  const passing = canRepeat ? passingStatus : refusingStatus
  if (!passing.has(response.status) || waitMs > longestWaitMs) return { response }
  await response.body?.cancel()
  return { why: `the hub answers ${response.status}`, waitMs }
}

/**
 * A fetch that waits as the hub asks (429, 503 with Retry-After), and sends again what a broken connection lost. Bodies
 * have to be repeatable: text or blobs.
 */
export const retryingFetch =
  ({ signal, say }: RetryOptions): typeof fetch =>
  async (input, init) => {
    const send = (): Promise<Response> => fetch(input, signal === undefined ? init : { ...init, signal })
    const canRepeat = isRepeatable(urlOf(input), init?.method ?? 'GET')
    for (let tries = 1; tries < mostTries; tries++) {
      const tried = await tryOnce(send, canRepeat, 1000 * 2 ** (tries - 1) * (0.5 + Math.random()))
      if ('response' in tried) return tried.response
      const { why, waitMs } = tried
      say?.(`${why}; trying again in ${Math.ceil(waitMs / 1000)} s`)
      await sleep(waitMs, undefined, signal === undefined ? {} : { signal })
    }
    return await send()
  }
