import { noticeText, type Judge } from '../../judge/judge.ts'
import type { LoopState } from '../checkpoint.ts'
import type { Progress } from '../progress.ts'
import type { Recorder } from '../recorder.ts'
import type { Sampler, SamplerNotice } from '../sampler.ts'

export interface OutageWatchOptions {
  readonly judge: Judge | null
  readonly sampler: Sampler
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
 * Shows and records that judge or sampler are waited for, and what else they have to say. A step that waits cannot be
 * finished, so a wish to stop after it then ends it at once: `signal` is aborted by that, and by a wish to end now.
 */
export class OutageWatch {
  readonly signal: AbortSignal
  readonly #options: OutageWatchOptions
  readonly #givenUp = new AbortController()
  readonly #unwatch: readonly (() => void)[]
  /** The judge may be down and limited at once, and the sampler be away. */
  #pauses = 0

  constructor(options: OutageWatchOptions) {
    this.#options = options
    const { abort, stop, judge, sampler } = options
    this.signal = abort === undefined ? this.#givenUp.signal : AbortSignal.any([abort, this.#givenUp.signal])
    stop?.addEventListener('abort', this.#giveUpIfWaiting)
    this.#unwatch = [
      judge?.watch?.((notice) => this.#tell({ kind: notice.kind, text: noticeText(notice) })) ?? (() => undefined),
      sampler.watch?.((notice) => this.#tell(notice)) ?? (() => undefined),
    ]
  }

  close(): void {
    for (const unwatch of this.#unwatch) unwatch()
    this.#options.stop?.removeEventListener('abort', this.#giveUpIfWaiting)
  }

  readonly #giveUpIfWaiting = (): void => {
    const { stop } = this.#options
    if (this.#pauses > 0 && stop?.aborted === true) this.#givenUp.abort(stop.reason)
  }

  #tell({ kind, text }: SamplerNotice): void {
    const { progress, recorder, state } = this.#options
    if (kind === 'warning') {
      progress.note(`warning: ${text}`)
      return recorder.warning(text)
    }
    const isPaused = kind === 'paused'
    this.#pauses += isPaused ? 1 : -1
    if (!isPaused && this.#pauses > 0) return
    // Below the first line are the last ones of a log.
    const [first = '', ...log] = text.split('\n')
    progress.note(isPaused ? [`paused: ${first}. Ctrl-C saves and stops.`, ...log].join('\n') : text)
    progress.status(isPaused ? `paused: ${first}` : 'going on')
    if (isPaused) recorder.paused(state(), text)
    else recorder.continued(state(), text)
    this.#giveUpIfWaiting()
  }
}
