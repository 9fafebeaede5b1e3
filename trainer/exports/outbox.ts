import { setTimeout as sleep } from 'node:timers/promises'
import type { MetricPoint, Sink, SinkEnding } from './sink.ts'

/** Steps that wait for a sink; of more the oldest are given up. */
const most = 5000
/** Steps of one delivery. */
const batch = 200
const longestPauseMs = 60_000

export interface OutboxOptions {
  readonly sink: Sink
  /** Between deliveries, and after the first failure; doubled with every further one. */
  readonly everyMs: number
  /** Told once when deliveries begin to fail, and once when they work again. */
  readonly onWarning: (message: string) => void
}

/**
 * What waits for one sink, and the timer that delivers it. A failure never goes further than here: it is said once, counted,
 * and tried again later.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #end = new AbortController()
  readonly #cancel = new AbortController()
  readonly #running: Promise<void>
  #points: MetricPoint[] = []
  #givenUp = 0
  #failures = 0
  #lastFailure = ''

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Steps that are not delivered, and deliveries that failed in a row. */
  get state(): { readonly waiting: number; readonly givenUp: number; readonly failures: number } {
    return { waiting: this.#points.length, givenUp: this.#givenUp, failures: this.#failures }
  }

  /** Takes points over; never waits. */
  put(points: readonly MetricPoint[]): void {
    this.#points.push(...points)
    const over = this.#points.length - most
    if (over <= 0) return
    this.#points.splice(0, over)
    this.#givenUp += over
  }

  /** Delivers what is left and closes the sink, in no more than `patienceMs`. Returns how many steps were not delivered. */
  async close(ending: SinkEnding, patienceMs: number): Promise<number> {
    const deadline = setTimeout(() => this.#cancel.abort(), patienceMs)
    try {
      this.#end.abort()
      await this.#running
      while (this.#points.length > 0 && (await this.#deliver()));
      await this.#options.sink.close(ending, this.#cancel.signal).catch((error: unknown) => this.#failed(error))
    } finally {
      clearTimeout(deadline)
    }
    return this.#points.length + this.#givenUp
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const pause = Math.min(longestPauseMs, this.#options.everyMs * 2 ** Math.min(this.#failures, 10))
      await sleep(Math.max(pause, this.#options.everyMs), undefined, { signal: this.#end.signal, ref: false }).catch(
        () => undefined,
      )
      while (!this.#end.signal.aborted && this.#points.length > 0 && (await this.#deliver()));
    }
  }

  /** Sends the oldest points; true when they arrived. */
  async #deliver(): Promise<boolean> {
    const points = this.#points.slice(0, batch)
    try {
      await this.#options.sink.write(points, this.#cancel.signal)
    } catch (error) {
      this.#failed(error)
      return false
    }
    // Some of them may have been given up while they were under way.
    const sent = new Set(points)
    this.#points = this.#points.filter((point) => !sent.has(point))
    if (this.#failures > 0) this.#options.onWarning(`${this.#options.sink.name} takes metrics again`)
    this.#failures = 0
    return true
  }

  #failed(error: unknown): void {
    this.#failures += 1
    const message = (error as Error).message
    if (this.#failures > 1 && message === this.#lastFailure) return
    if (this.#failures === 1) {
      const { name } = this.#options.sink
      this.#options.onWarning(`${name} does not take metrics now, training goes on: ${message}`)
    }
    this.#lastFailure = message
  }
}
