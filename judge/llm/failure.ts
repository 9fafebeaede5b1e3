import { retryAfter } from '../../data/retry-after.ts'

/**
 * Why one try brought no verdict. connection: refused, reset or cut. timed_out: not complete at the deadline.
 * server_error: the endpoint says that it cannot now. rate_limited: it asks to wait. refused: it will not, and another try
 * changes nothing. garbled: a reply that is no verdict. swapped: a verdict, but not to this question or not by this model.
 */
export const failureKinds = [
  'connection',
  'timed_out',
  'server_error',
  'rate_limited',
  'refused',
  'garbled',
  'swapped',
] as const
export type FailureKind = (typeof failureKinds)[number]

const outages: ReadonlySet<FailureKind> = new Set(['connection', 'timed_out', 'server_error'])

/** One try that failed. */
export class CallFailure extends Error {
  readonly kind: FailureKind
  /** How long the endpoint asked to wait; null: it did not say. */
  readonly retryAfterMs: number | null

  constructor(kind: FailureKind, message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'CallFailure'
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs ?? null
  }
  /** Another try may mend it. */
  get retryable(): boolean {
    return this.kind !== 'refused'
  }
  /** Speaks for an endpoint that is down, rather than for one that answers badly. */
  get speaksForOutage(): boolean {
    return outages.has(this.kind)
  }
}

/** `Retry-After` in milliseconds: seconds, or a date; `Retry-After-Ms` where a server sends that. */
export const readRetryAfter = (headers: Headers | undefined, now: number): number | null => {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  return retryAfter(headers?.get('retry-after') ?? null, now)
}
