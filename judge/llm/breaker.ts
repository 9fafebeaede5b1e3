import { JudgeError, type JudgeNotice } from '../judge.ts'
import { CallFailure } from './failure.ts'
import { abortable, pause } from './wait.ts'

export interface BreakerOptions {
  /** Failures in a row, from everybody, until the endpoint counts as down. */
  readonly failures: number
  readonly pauseMs: number
  /** While it is down: wait, or reject at once. */
  readonly onOutage: 'pause' | 'skip'
  /** A neutral question that costs next to nothing. A CallFailure: still down. Any other error ends everything. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>
  readonly notify: (notice: JudgeNotice) => void
}

interface Outage {
  readonly reason: string
  readonly since: number
  /** Resolves when the endpoint is back; rejects when it must not be asked again. */
  readonly over: Promise<void>
}

/**
 * Circuit breaker of one endpoint. Closed: everybody may ask. Open, after so many failures in a row: nobody asks, and after
 * each pause one neutral probe (half-open) finds out whether the endpoint is back. The probe is never somebody's question:
 * a question that an endpoint cannot bear must not be mistaken for an endpoint that is down.
 */
export class Breaker {
  readonly #options: BreakerOptions
  readonly #closing = new AbortController()
  #outage: Outage | null = null
  #failuresInARow = 0
  /** What made the endpoint unusable for good. */
  #fatal: Error | null = null
  #earlierMs = 0
  #outages = 0
  #answers = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#outage !== null
  }
  /** Answers so far, of any kind: two equal numbers mean that nobody had one in between. */
  get answers(): number {
    return this.#answers
  }
  get outages(): number {
    return this.#outages
  }
  get pausedMs(): number {
    return this.#earlierMs + (this.#outage === null ? 0 : performance.now() - this.#outage.since)
  }

  /** The endpoint answered somebody, be it nonsense. */
  answered(): void {
    this.#answers += 1
    this.#failuresInARow = 0
  }

  /** The endpoint did not answer somebody. */
  failed(failure: CallFailure): void {
    this.#failuresInARow += 1
    if (this.#failuresInARow >= this.#options.failures) this.open(failure.message)
  }

  /** Declares the endpoint down. */
  open(reason: string): void {
    if (this.#outage !== null || this.#closing.signal.aborted) return
    const over = this.#recover()
    // Whoever waits hears of it; nobody may be waiting.
    over.catch(() => undefined)
    this.#outage = { reason, since: performance.now(), over }
    this.#outages += 1
    this.#tell({ kind: 'paused', reason })
  }

  /** Resolves when the endpoint may be asked. Rejects while it is down if that is to be skipped. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#fatal !== null) throw this.#fatal
    const outage = this.#outage
    if (outage === null) return
    if (this.#options.onOutage === 'skip')
      throw new JudgeError(`the judge is down: ${outage.reason}`, { retryable: true })
    await abortable(outage.over, signal)
  }

  /** Ends all waiting and probing. */
  close(): void {
    this.#closing.abort(new JudgeError('the judge was closed'))
  }

  async #recover(): Promise<void> {
    const { pauseMs, probe } = this.#options
    const { signal } = this.#closing
    for (;;) {
      await pause(pauseMs, signal)
      try {
        await probe(signal)
        return this.#endOutage()
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof CallFailure) continue
        this.#fatal = error as Error
        this.#endOutage()
        throw error
      }
    }
  }

  #endOutage(): void {
    const seconds = this.#outage === null ? 0 : (performance.now() - this.#outage.since) / 1000
    this.#earlierMs += seconds * 1000
    this.#outage = null
    this.answered()
    this.#tell({ kind: 'continued', seconds })
  }

  /** Nobody waits for an endpoint that is skipped. */
  #tell(notice: Exclude<JudgeNotice, { kind: 'warning' }>): void {
    const { onOutage, notify } = this.#options
    if (onOutage === 'pause') return notify(notice)
    const message =
      notice.kind === 'paused'
        ? `down, and completions stay unscored until it is back: ${notice.reason}`
        : `back after ${notice.seconds.toFixed(0)} s`
    notify({ kind: 'warning', message })
  }
}
