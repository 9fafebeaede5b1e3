import type { JudgeNotice } from '../judge.ts'
import { pause } from './wait.ts'

/** A longer one is told to people. */
const longMs = 10_000
/** No timer runs longer; whoever is limited for days asks again each day. */
const mostMs = 86_400_000
/** Those who waited do not all come back in the same moment. */
const spreadMs = 250

/** Keeps everybody back for as long as a rate limit asked one of them to wait. */
export class Hold {
  readonly #notify: (notice: JudgeNotice) => void
  #until = 0
  /** When a long hold was told; null: none is under way. */
  #toldAt: number | null = null

  constructor(notify: (notice: JudgeNotice) => void) {
    this.#notify = notify
  }

  get isOn(): boolean {
    return this.#until > performance.now()
  }

  /** Never shortens a hold that is longer already. */
  extend(ms: number): void {
    const now = performance.now()
    this.#until = Math.max(this.#until, now + Math.min(ms, mostMs))
    if (ms < longMs || this.#toldAt !== null) return
    this.#toldAt = now
    this.#notify({ kind: 'paused', reason: `its rate limit asks to wait ${Math.ceil(ms / 1000)} s` })
  }

  /** Resolves when nobody is kept back any more. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    while (this.isOn) await pause(this.#until - performance.now() + Math.random() * spreadMs, signal)
    if (this.#toldAt === null) return
    const seconds = (performance.now() - this.#toldAt) / 1000
    this.#toldAt = null
    this.#notify({ kind: 'continued', seconds })
  }
}
