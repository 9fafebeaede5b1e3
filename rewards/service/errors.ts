import { PipelineError } from '../../data/errors.ts'

/** Every way in which a request can be refused, with its HTTP status. */
export const refusals = {
  invalid_json: 400,
  unauthorized: 401,
  forbidden_host: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_body: 422,
  internal: 500,
  unscored: 503,
  busy: 503,
} as const

export type RefusalCode = keyof typeof refusals

/** One thing that is wrong with a body, at a path such as `items.3.completion`. */
export interface BodyIssue {
  readonly path: string
  readonly message: string
}

/** A request that gets no reward, and why. */
export class ServiceError extends PipelineError {
  readonly code: RefusalCode
  readonly issues: readonly BodyIssue[]

  constructor(
    code: RefusalCode,
    message: string,
    options: { readonly remedy?: string; readonly issues?: readonly BodyIssue[]; readonly cause?: unknown } = {},
  ) {
    const remedy = options.remedy === undefined ? {} : { remedy: options.remedy }
    super('rewards', message, { ...remedy, retryable: refusals[code] === 503, cause: options.cause })
    this.code = code
    this.issues = options.issues ?? []
  }
}

/** The one JSON shape of every answer that is not a success. */
export const errorBody = (error: ServiceError) => ({
  error: { code: error.code, message: error.message, remedy: error.remedy ?? null, issues: error.issues },
})
