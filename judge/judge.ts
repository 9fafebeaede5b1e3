import { PipelineError, type PipelineErrorOptions } from '../data/errors.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { Verdict } from '../data/records/reward.ts'

export interface JudgeRequest {
  readonly prompt: Prompt
  /** Decoded text of one completion, without the end-of-turn token. */
  readonly completion: string
  /** Aborting gives the request up, also while it waits; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** What a judge did since it was made. All numbers only rise. */
export interface JudgeCounts {
  /** Requests sent to the endpoint, whatever came of them. */
  readonly requests: number
  /** Requests that were sent again after a failure. */
  readonly retries: number
  /** Tries that failed, by kind (`judge/llm/failure.ts` lists them). */
  readonly failures: Readonly<Record<string, number>>
  /** Verdicts found in memory, found on disk, and shared with an equal question that was already under way. */
  readonly memoryHits: number
  readonly diskHits: number
  readonly joined: number
  /** Verdicts that could not be stored; they count, and are asked for again next time. */
  readonly storeFailures: number
  /** As the endpoint reports them. */
  readonly promptTokens: number
  readonly completionTokens: number
  readonly outages: number
  readonly pausedSeconds: number
}

/** What people should know at once. `paused`: nothing is asked until `continued`. */
export type JudgeNotice =
  | { readonly kind: 'paused'; readonly reason: string }
  | { readonly kind: 'continued'; readonly seconds: number }
  | { readonly kind: 'warning'; readonly message: string }

/** A notice in words. */
export const noticeText = (notice: JudgeNotice): string => {
  if (notice.kind === 'paused') return `waiting for the judge: ${notice.reason}`
  return notice.kind === 'warning'
    ? `judge: ${notice.message}`
    : `the judge is back after ${notice.seconds.toFixed(0)} s`
}

/** Grades the content of a completion; form is the business of other rewards. */
export interface Judge {
  /** Stands in every report. */
  readonly name: string
  /**
   * Rejects with a JudgeError when there is no verdict; the completion is then unscored, never worth zero. Any other
   * rejection ends the run: the signal's reason, or a judge that is not the one it was.
   */
  readonly judge: (request: JudgeRequest) => Promise<Verdict>
  /** Absent where nothing is asked of anybody. */
  readonly counts?: () => JudgeCounts
  /** Calls the listener at each notice; returns what ends that. */
  readonly watch?: (listener: (notice: JudgeNotice) => void) => () => void
  /** Share of a step's questions that may stay without a verdict; absent: any. */
  readonly maxUnscored?: number
}

/** A judge that holds files or connections until it is closed. */
export interface OpenJudge extends Judge {
  readonly close: () => Promise<void>
}

/** No verdict could be had. */
export class JudgeError extends PipelineError {
  constructor(message: string, options: PipelineErrorOptions = {}) {
    super('judge', message, options)
  }
}
