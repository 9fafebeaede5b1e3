/** What a run is at, for people who look at it from outside. */
const phases = ['starting', 'sampling', 'scoring', 'updating', 'publishing', 'saving', 'evaluating'] as const
type Phase = (typeof phases)[number]

/** No progress for longer than this is worth a word, in seconds; the deadlines of requests act later, and by themselves. */
const patience: Readonly<Record<Phase, number>> = {
  // Its own messages tell how it is going.
  starting: Number.POSITIVE_INFINITY,
  sampling: 300,
  scoring: 300,
  updating: 900,
  publishing: 300,
  saving: 300,
  evaluating: 300,
}

const waitsFor: Readonly<Record<Phase, string>> = {
  starting: 'worker and sampler',
  sampling: 'completions of the sampler',
  scoring: 'verdicts of the judge',
  updating: 'the worker',
  publishing: 'the adapter: the worker writes it, the sampler loads it',
  saving: 'the checkpoint of the worker',
  evaluating: 'completions of the sampler, or verdicts of the judge',
}

/** What is usual on one machine may be slow on another: so many times the longest wait so far is no stall. */
const usual = 5

/** What a run is at, and since when nothing has come of it. Times are in milliseconds, from the given clock. */
export class Activity {
  readonly #now: () => number
  readonly #longest = new Map<Phase, number>()
  #phase: Phase = 'starting'
  #since: number
  #last: number
  #arrived = 0
  #told = false

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#since = this.#last = now()
  }

  get phase(): Phase {
    return this.#phase
  }

  /** When the phase was entered. */
  get since(): number {
    return this.#since
  }

  enter(phase: Phase): void {
    this.#note()
    this.#phase = phase
    this.#since = this.#now()
    this.#arrived = 0
  }

  /** Something that the phase waits for has arrived. */
  progressed(): void {
    this.#note()
    this.#arrived += 1
  }

  /** An outage that was told of is over: it is neither a stall nor what is usual. */
  resume(): void {
    this.#last = this.#now()
    this.#told = false
  }

  /** What to say about a wait that is too long, once for each; null: all is as usual. */
  stall(): string | null {
    const waited = this.#now() - this.#last
    const limit = Math.max(patience[this.#phase] * 1000, usual * (this.#longest.get(this.#phase) ?? 0))
    if (this.#told || waited <= limit) return null
    this.#told = true
    const came = this.#arrived === 0 ? '' : `, ${this.#arrived} of them have come`
    return `no progress for ${Math.round(waited / 1000)} s: ${this.#phase}, waits for ${waitsFor[this.#phase]}${came}`
  }

  #note(): void {
    const now = this.#now()
    // What was a stall once must not become what is usual.
    if (!this.#told) {
      this.#longest.set(this.#phase, Math.max(this.#longest.get(this.#phase) ?? 0, now - this.#last))
    }
    this.#last = now
    this.#told = false
  }
}
