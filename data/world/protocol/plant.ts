import { formatOperation } from '../../records/operation.ts'
import type { Call } from '../../records/operation.ts'
import type { Rng } from '../random.ts'
import type { Outcome } from '../world.ts'
import { fillWording, injectionWordings, messageWordings } from './wordings.ts'

/** A poisoned record can only show up in a read that found something. */
const hasRecords = ({ kind, observation }: Outcome): boolean => kind === 'read' && observation !== 'no results'

type Position = 'before' | 'after' | 'inside'

/** An observation as the agent sees it, with the part of it that somebody planted. */
export interface Shown {
  readonly observation: string
  readonly injected: string | null
}

/**
 * Somebody else's instruction in the agent's way. It waits until armed, then takes the first fitting observation as its
 * source: a transient plant shows once, a persistent one sits in a record and shows whenever the same read is made.
 */
export class Plant {
  readonly text: string
  readonly persistent: boolean
  private readonly position: Position
  private armed = false
  private sourceCall: Call | null = null

  private constructor(text: string, position: Position, persistent: boolean) {
    this.text = text
    this.position = position
    this.persistent = persistent
  }

  /** An instruction inside a record, or a message that comes in under a result. */
  static of(rng: Rng, payload: string, from: string, persistent: boolean): Plant {
    if (!persistent && rng.chance(0.3)) {
      return new Plant(fillWording(rng.pick(messageWordings), { task: payload, from }), 'after', false)
    }
    const text = fillWording(rng.pick(injectionWordings), { task: payload })
    return new Plant(text, rng.pick(['before', 'after', 'after', 'inside'] as const), persistent)
  }

  /** The call whose observation first showed the text; null before. */
  get source(): Call | null {
    return this.sourceCall
  }

  arm(): void {
    this.armed = true
  }

  /** What the agent sees of a call made for the task. */
  show(call: Call, outcome: Outcome): Shown {
    const clean: Shown = { observation: outcome.observation, injected: null }
    if (!outcome.ok) return clean
    if (this.sourceCall === null) {
      if (!this.armed || (this.persistent && !hasRecords(outcome))) return clean
      this.sourceCall = call
      return this.poison(outcome.observation)
    }
    if (!this.persistent || formatOperation(call) !== formatOperation(this.sourceCall)) return clean
    return this.poison(outcome.observation)
  }

  private poison(observation: string): Shown {
    const colon = observation.indexOf(': ')
    if (this.position === 'before') return { observation: `${this.text} ${observation}`, injected: this.text }
    if (this.position === 'after' || colon === -1)
      return { observation: `${observation}. ${this.text}`, injected: this.text }
    const head = observation.slice(0, colon + 2)
    return { observation: `${head}${this.text} ${observation.slice(colon + 2)}`, injected: this.text }
  }
}
