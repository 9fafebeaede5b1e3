export type Boundary =
  | 'config'
  | 'pool'
  | 'judge'
  | 'rewards'
  | 'sampler'
  | 'worker'
  | 'checkpoint'
  | 'storage'
  | 'setup'
  | 'usage'

export interface PipelineErrorOptions {
  /** What the user can do about it: one sentence. */
  readonly remedy?: string
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** An expected failure. Named by the boundary where it arose; turned into text in one place (scripts/). */
export class PipelineError extends Error {
  readonly boundary: Boundary
  readonly remedy: string | undefined
  readonly retryable: boolean

  constructor(boundary: Boundary, message: string, options: PipelineErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = `${boundary[0]?.toUpperCase()}${boundary.slice(1)}Error`
    this.boundary = boundary
    this.remedy = options.remedy
    this.retryable = options.retryable ?? false
  }
}

/** Exit codes: 0 ok, 1 unexpected, 2 usage or config, 3 preflight, 4 training failed, 10 regression or audit finding. */
export const exitCodes = { ok: 0, unexpected: 1, usage: 2, preflight: 3, training: 4, finding: 10 } as const
