import type { JudgeNotice } from '../judge.ts'

/** Nobody may ever listen. */
const mostMissed = 20

/** Passes notices to whoever listens. One that came before anybody listened is kept for the first listener. */
export class Notices {
  readonly #listeners = new Set<(notice: JudgeNotice) => void>()
  #missed: JudgeNotice[] = []

  readonly send = (notice: JudgeNotice): void => {
    if (this.#listeners.size === 0) this.#missed = [...this.#missed, notice].slice(-mostMissed)
    for (const listener of this.#listeners) listener(notice)
  }

  readonly watch = (listener: (notice: JudgeNotice) => void): (() => void) => {
    this.#listeners.add(listener)
    const missed = this.#missed
    this.#missed = []
    for (const notice of missed) listener(notice)
    return () => this.#listeners.delete(listener)
  }
}
