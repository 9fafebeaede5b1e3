import { nodeIds, type NodeId } from '../../../data/records/node.ts'
import type { Score } from '../../../data/records/reward.ts'
import type { RolloutGroup } from '../../../data/records/rollout.ts'

export const finishReasons = ['stop', 'length', 'abort'] as const

/** A group as the index reads it: a rollout record without token ids. */
export interface LightRecord {
  readonly attempt: number
  readonly group: Pick<RolloutGroup, 'promptId' | 'node' | 'step' | 'completions'>
  readonly scores: readonly Score[]
  readonly advantages: { readonly advantages: readonly (number | null)[]; readonly skipped: string | null }
}

type Column = Float32Array | Uint32Array | Uint16Array | Uint8Array

/** Numbers of one kind by row, in an array that doubles when it is full. */
class Growing<C extends Column> {
  data: C
  constructor(first: C) {
    this.data = first
  }
  set(row: number, value: number): void {
    if (row >= this.data.length) {
      const Kind = this.data.constructor as new (length: number) => C
      const larger = new Kind(this.data.length * 2)
      larger.set(this.data)
      this.data = larger
    }
    this.data[row] = value
  }
}

const rows = 1024
const floats = () => new Growing(new Float32Array(rows))
const bytes = () => new Growing(new Uint8Array(rows))
const words = () => new Growing(new Uint32Array(rows))

export interface RowPlace {
  /** Which file, and where in it the group's line is. */
  readonly file: number
  readonly offset: number
  readonly length: number
  readonly groupInFile: number
  readonly sample: number
}

/** About 80 bytes a completion: what is filtered, sorted and summed. NaN stands for a value that does not exist. */
export class Columns {
  count = 0
  readonly step = words()
  readonly attempt = new Growing(new Uint16Array(rows))
  readonly node = bytes()
  readonly finish = bytes()
  readonly sample = bytes()
  readonly dead = bytes()
  readonly tokens = words()
  readonly total = floats()
  readonly advantage = floats()
  readonly prompt = words()
  readonly file = words()
  readonly offset = words()
  readonly length = words()
  readonly groupInFile = words()
  readonly failedBy = bytes()
  readonly components: string[] = []
  readonly weighted: Growing<Float32Array>[] = []
  readonly prompts: string[] = []
  readonly #promptNumbers = new Map<string, number>()
  /** Largest |total − sum of contributions| of all rows. */
  sumError = 0

  nodeOf(row: number): NodeId {
    return nodeIds[this.node.data[row] ?? 0] ?? 'n1'
  }

  promptNumber(id: string): number | undefined {
    return this.#promptNumbers.get(id)
  }

  #promptFor(id: string): number {
    const known = this.#promptNumbers.get(id)
    if (known !== undefined) return known
    this.#promptNumbers.set(id, this.prompts.length)
    return this.prompts.push(id) - 1
  }

  #componentFor(name: string): number {
    const at = this.components.indexOf(name)
    if (at !== -1) return at
    // Rows before the first one that has this component have no value of it.
    const column = new Growing(new Float32Array(this.step.data.length).fill(Number.NaN))
    this.weighted.push(column)
    return this.components.push(name) - 1
  }

  addGroup(record: LightRecord, tokens: readonly number[], place: Omit<RowPlace, 'sample'>): void {
    const { group, scores, advantages } = record
    for (const [i, completion] of group.completions.entries()) {
      const row = this.count++
      this.step.set(row, group.step)
      this.attempt.set(row, record.attempt)
      this.node.set(row, nodeIds.indexOf(group.node))
      this.finish.set(row, finishReasons.indexOf(completion.finishReason))
      this.sample.set(row, i)
      this.dead.set(row, advantages.skipped === null ? 0 : 1)
      this.tokens.set(row, tokens[i] ?? 0)
      this.advantage.set(row, advantages.advantages[i] ?? Number.NaN)
      this.prompt.set(row, this.#promptFor(group.promptId))
      this.file.set(row, place.file)
      this.offset.set(row, place.offset)
      this.length.set(row, place.length)
      this.groupInFile.set(row, place.groupInFile)
      this.#setScore(row, scores[i])
    }
  }

  #setScore(row: number, score: Score | undefined): void {
    for (const column of this.weighted) column.set(row, Number.NaN)
    this.failedBy.set(row, score?.kind === 'unscored' ? this.#componentFor(score.component) + 1 : 0)
    if (score?.kind !== 'scored') {
      this.total.set(row, Number.NaN)
      return
    }
    this.total.set(row, score.total)
    let sum = 0
    for (const [name, { weighted }] of Object.entries(score.components)) {
      this.weighted[this.#componentFor(name)]?.set(row, weighted)
      sum += weighted
    }
    this.sumError = Math.max(this.sumError, Math.abs(sum - score.total))
  }
}
