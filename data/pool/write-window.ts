import { showOperation } from '../nodes/operation.ts'
import type { EndpointDoc, ObservedCall, Trajectory } from '../records/trajectory.ts'
import type { Rng } from '../world/random.ts'
import { endpointName } from './docs.ts'
import { isWrite } from './labels.ts'
import { shuffle } from './random.ts'

const windowSize = 96
/** How many writes a prompt shows, drawn from this list: a choice, not a measurement. Short lists are the easier ones. */
const writeCounts = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4] as const
const mostTries = 12

/** One successful call with its documentation, as n3 and n4 combine them. */
export interface Sample {
  readonly shown: string
  readonly doc: EndpointDoc | null
  readonly trajectory: Trajectory
}

const push = (window: Sample[], sample: Sample): void => {
  window.push(sample)
  if (window.length > windowSize) window.shift()
}

/** The last writes of a split. Prompts join writes of several trajectories, because one rarely has enough of them. */
export class WriteWindow {
  readonly #recent: Sample[] = []
  /** Kept apart: reversible writes are rare in recordings. */
  readonly #reversible: Sample[] = []
  readonly #reads: Sample[] = []

  /** Adds a trajectory's operations and returns its writes. */
  add(trajectory: Trajectory): Sample[] {
    const docs = new Map(trajectory.docs.map((doc) => [endpointName(doc), doc]))
    const sample = ({ call }: ObservedCall): Sample => ({
      shown: showOperation(call),
      doc: docs.get(endpointName(call)) ?? null,
      trajectory,
    })
    const calls = trajectory.steps.flatMap((step) => step.calls)
    const writes = calls.filter(isWrite).map(sample)
    for (const write of writes) {
      push(this.#recent, write)
      if (write.doc?.undoneBy != null) push(this.#reversible, write)
    }
    for (const read of calls.filter(({ kind, ok }) => kind === 'read' && ok).map(sample)) push(this.#reads, read)
    return writes
  }

  /** One to four different writes, one of them from `own`. */
  combine(own: readonly Sample[], rng: Rng): Sample[] {
    const chosen = new Map<string, Sample>()
    const first = rng.pick(own)
    chosen.set(first.shown, first)
    const wanted = rng.pick(writeCounts)
    for (let tries = 0; chosen.size < wanted && tries < mostTries; tries++) {
      const from = this.#reversible.length > 0 && rng.chance(0.4) ? this.#reversible : this.#recent
      const next = rng.pick(rng.chance(0.3) ? own : from)
      if (!chosen.has(next.shown)) chosen.set(next.shown, next)
    }
    return shuffle([...chosen.values()], rng)
  }

  /** Some recent successful read, for a list that upstream got wrong; null while there is none. */
  anyRead(rng: Rng): Sample | null {
    return this.#reads.length === 0 ? null : rng.pick(this.#reads)
  }
}
