import type { Split } from '../../records/prompt.ts'
import type { Rng } from '../random.ts'
import { valuesBySplit, weekdays } from './lists.ts'
import type { ValueKind } from './lists.ts'

/**
 * Draws the values of one trajectory, all from the words of its split and without replacement: no two tasks of a
 * trajectory share a name, so whom a call is about decides whom it serves.
 */
export class Draw {
  private readonly used = new Set<string>()

  private readonly rng: Rng
  private readonly split: Split

  constructor(rng: Rng, split: Split) {
    this.rng = rng
    this.split = split
  }

  person = (): string => this.fresh('person')
  topic = (): string => this.fresh('topic')
  song = (): string => this.fresh('song')
  artist = (): string => this.fresh('artist')
  playlist = (): string => this.fresh('playlist')
  file = (): string => this.fresh('file')
  folder = (): string => this.fresh('folder')
  item = (): string => this.fresh('item')
  channel = (): string => this.fresh('channel')
  group = (): string => this.fresh('group')
  event = (): string => this.fresh('event')
  tag = (): string => this.fresh('tag')
  day = (): string => this.rng.pick(weekdays)
  amount = (): number => this.rng.int(2, 99)
  stars = (): number => this.rng.int(1, 5)

  /** An unused value: a random start, then the next free one. */
  private fresh(kind: ValueKind): string {
    const values = valuesBySplit[this.split][kind]
    const start = this.rng.int(0, values.length - 1)
    for (let i = 0; i < values.length; i++) {
      const value = values[(start + i) % values.length]
      if (value !== undefined && !this.used.has(value)) {
        this.used.add(value)
        return value
      }
    }
    throw new Error(`a trajectory used up every ${kind}`)
  }
}
