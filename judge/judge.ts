import { PipelineError, type PipelineErrorOptions } from '../data/errors.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { Verdict } from '../data/records/reward.ts'

export interface JudgeRequest {
  readonly prompt: Prompt
  /** Decoded text of one completion, without the end-of-turn token. */
  readonly completion: string
}

/** Grades the content of a completion; form is the business of other rewards. */
export interface Judge {
  /** Stands in every verdict and every report. */
  readonly name: string
  /** Rejects with a JudgeError when there is no verdict; the completion is then unscored, never worth zero. */
  readonly judge: (request: JudgeRequest) => Promise<Verdict>
}

/** No verdict could be had. */
export class JudgeError extends PipelineError {
  constructor(message: string, options: PipelineErrorOptions = {}) {
    super('judge', message, options)
  }
}
