import { noticeText, type Judge, type JudgeNotice } from '../judge/judge.ts'
import type { LoopState } from './checkpoint.ts'
import type { Progress } from './progress.ts'
import type { Recorder } from './recorder.ts'

export interface JudgeWatchOptions {
  readonly judge: Judge | null
  readonly recorder: Recorder
  readonly progress: Progress
  /** The wish to end after the step under way. */
  readonly stop: AbortSignal | undefined
  /** The wish to end now. */
  readonly abort: AbortSignal | undefined
  /** After the last complete step. */
  readonly state: () => LoopState | null
}

/**
 * Shows and records that the judge is waited for. A step that waits cannot be finished, so a wish to stop after it then ends
 * it at once: `signal` is aborted by that, and by a wish to end now.
 */
export class JudgeWatch {
  readonly signal: AbortSignal
  readonly #options: JudgeWatchOptions
  readonly #givenUp = new AbortController()
  readonly #unwatch: () => void
  /** It may be down and limited at once. */
  #pauses = 0

  constructor(options: JudgeWatchOptions) {
    this.#options = options
    const { abort, stop, judge } = options
    this.signal = abort === undefined ? this.#givenUp.signal : AbortSignal.any([abort, this.#givenUp.signal])
    stop?.addEventListener('abort', this.#giveUpIfWaiting)
    this.#unwatch = judge?.watch?.(this.#onNotice) ?? (() => undefined)
  }

  close(): void {
    this.#unwatch()
    this.#options.stop?.removeEventListener('abort', this.#giveUpIfWaiting)
  }

  readonly #giveUpIfWaiting = (): void => {
    const { stop } = this.#options
    if (this.#pauses > 0 && stop?.aborted === true) this.#givenUp.abort(stop.reason)
  }

  readonly #onNotice = (notice: JudgeNotice): void => {
    const { progress, recorder, state } = this.#options
    const text = noticeText(notice)
    if (notice.kind === 'warning') {
      progress.note(`warning: ${text}`)
      return recorder.warning(text)
    }
    const isPaused = notice.kind === 'paused'
    this.#pauses += isPaused ? 1 : -1
    if (!isPaused && this.#pauses > 0) return
    progress.note(isPaused ? `paused: ${text}. Ctrl-C saves and stops.` : text)
    progress.status(isPaused ? `paused: ${text}` : 'going on')
    if (isPaused) recorder.paused(state(), text)
    else recorder.continued(state(), text)
    this.#giveUpIfWaiting()
  }
}
