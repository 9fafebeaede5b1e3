import { setTimeout as sleep } from 'node:timers/promises'
import { JsonlTail } from '../dashboard/jsonl-tail.ts'
import { asMetricsRow, splitAttempts, type MetricsRow } from '../dashboard/series.ts'
import { Outbox } from './outbox.ts'
import { pointOf, type Sink, type SinkEnding } from './sink.ts'

export interface FollowOptions {
  /** metrics.jsonl of the run. */
  readonly path: string
  /** The attempt that is under way: only its lines are new. */
  readonly attempt: number
  readonly sinks: readonly Sink[]
  readonly everyMs: number
  /** How long the end may take. */
  readonly patienceMs: number
  readonly onWarning: (message: string) => void
}

/**
 * Sends a training's metrics on while it writes them. Follows the file that they are written to, with a timer of its own: the
 * loop knows nothing of it and never waits for it.
 */
export class Follower {
  readonly #options: FollowOptions
  readonly #tail: JsonlTail
  readonly #outboxes: readonly { readonly sink: Sink; readonly outbox: Outbox }[]
  readonly #end = new AbortController()
  readonly #running: Promise<void>
  /** Lines of earlier attempts, until this one has written its first. */
  #earlier: MetricsRow[] | null = []
  #failed = false

  constructor(options: FollowOptions) {
    this.#options = options
    this.#tail = new JsonlTail(options.path)
    const { everyMs, onWarning } = options
    this.#outboxes = options.sinks.map((sink) => ({ sink, outbox: new Outbox({ sink, everyMs, onWarning }) }))
    this.#running = this.#run()
  }

  /** Sends the rest; says what could not be sent. */
  async close(ending: SinkEnding): Promise<void> {
    const { patienceMs, onWarning } = this.#options
    this.#end.abort()
    await this.#running
    await this.#read()
    await Promise.all(
      this.#outboxes.map(async ({ sink, outbox }) => {
        const missing = await outbox.close(ending, patienceMs)
        if (missing > 0) onWarning(`${sink.name} did not take ${missing} steps; drift-grpo export sends all of them`)
      }),
    )
  }

  async #run(): Promise<void> {
    const { everyMs } = this.#options
    while (!this.#end.signal.aborted) {
      await this.#read()
      await sleep(everyMs, undefined, { signal: this.#end.signal, ref: false }).catch(() => undefined)
    }
  }

  async #read(): Promise<void> {
    try {
      const { restarted, records } = await this.#tail.read()
      if (restarted && this.#earlier !== null) this.#earlier = []
      this.#take(records.flatMap((record) => asMetricsRow(record) ?? []))
    } catch (error) {
      if (!this.#failed) this.#options.onWarning(`metrics cannot be read for export: ${(error as Error).message}`)
      this.#failed = true
    }
  }

  #take(rows: readonly MetricsRow[]): void {
    const own = rows.filter(({ attempt }) => attempt >= this.#options.attempt)
    if (this.#earlier === null) return this.#put(own, own)
    this.#earlier.push(...rows.filter(({ attempt }) => attempt < this.#options.attempt))
    if (own.length === 0) return undefined
    this.#put(splitAttempts([...this.#earlier, ...own]).current, own)
    this.#earlier = null
    return undefined
  }

  #put(all: readonly MetricsRow[], own: readonly MetricsRow[]): void {
    for (const { sink, outbox } of this.#outboxes) outbox.put((sink.replays ? all : own).map(pointOf))
  }
}
