import { nodeIds, type NodeId } from '../../../data/records/node.ts'
import type { Score } from '../../../data/records/reward.ts'
import type { RolloutGroup } from '../../../data/records/rollout.ts'

export const finishReasons = ['stop', 'length', 'abort'] as const

/** A group as the index reads it: a rollout record without token ids. */
export interface LightRecord {
  readonly attempt: number
  readonly group: Pick<RolloutGroup, 'promptId' | 'node' | 'step' | 'completions'>
  readonly verdicts: readonly ({ readonly score: number; readonly reason: string } | null)[]
  readonly scores: readonly Score[]
  readonly advantages: { readonly advantages: readonly (number | null)[]; readonly skipped: string | null }
}

export type Column = Float32Array | Uint32Array | Uint16Array | Uint8Array

/** What is known of every completion, but for its contributions. NaN stands for a value that does not exist. */
export const columnKinds = {
  step: Uint32Array,
  attempt: Uint16Array,
  node: Uint8Array,
  finish: Uint8Array,
  sample: Uint8Array,
  dead: Uint8Array,
  tokens: Uint32Array,
  total: Float32Array,
  advantage: Float32Array,
  /** The judge's score. */
  judge: Float32Array,
  prompt: Uint32Array,
  file: Uint32Array,
  /** Where in its file the group's line is. */
  offset: Uint32Array,
  length: Uint32Array,
  groupInFile: Uint32Array,
  /** 1 + the component for which it is unscored; 0: it is scored. */
  failedBy: Uint8Array,
  /** Bytes of its text in lower case. */
  textLength: Uint32Array,
  /** Bytes of the judge's reason in lower case. */
  reasonLength: Uint32Array,
} as const
export type ColumnName = keyof typeof columnKinds
export const columnNames = Object.keys(columnKinds) as ColumnName[]

const firstCapacity = 1024

/** Numbers of one kind by row, in an array that doubles when it is full. */
export class Growing<C extends Column> {
  data: C
  constructor(first: C) {
    this.data = first
  }
  reserve(rows: number): void {
    if (rows <= this.data.length) return
    const Kind = this.data.constructor as new (length: number) => C
    const larger = new Kind(Math.max(rows, this.data.length * 2))
    larger.set(this.data)
    this.data = larger
  }
  set(row: number, value: number): void {
    this.reserve(row + 1)
    this.data[row] = value
  }
}

type ColumnSet = { readonly [N in ColumnName]: Growing<InstanceType<(typeof columnKinds)[N]>> }

const emptyColumns = (): ColumnSet => {
  const made = columnNames.map((name) => [name, new Growing(new columnKinds[name](firstCapacity))])
  return Object.fromEntries(made) as ColumnSet
}

/** Rows of some files, detached from the run that they were read for: file and prompt are places in the lists beside them. */
export interface RowBlock {
  readonly rows: number
  readonly prompts: readonly string[]
  readonly components: readonly string[]
  readonly sumError: number
  readonly columns: { readonly [N in ColumnName]: Column }
  readonly weighted: readonly Float32Array[]
}

/** What is searched of a completion, in lower case. */
export interface TextBytes {
  readonly completion: Buffer
  readonly reason: Buffer
}

export interface GroupPlace {
  /** Which file, and where in it the group's line is. */
  readonly file: number
  readonly offset: number
  readonly length: number
  readonly groupInFile: number
}

/** Exchanges numbers of one list for those of another. */
const renumber = (column: Column, from: number, to: number, numbers: readonly number[]): void => {
  for (let row = from; row < to; row++) column[row] = numbers[column[row] ?? 0] ?? 0
}

/** About 90 bytes a completion: what is filtered, sorted and summed. */
export class Columns {
  count = 0
  readonly of = emptyColumns()
  readonly components: string[] = []
  readonly weighted: Growing<Float32Array>[] = []
  readonly prompts: string[] = []
  readonly #promptNumbers = new Map<string, number>()
  /** Largest |total − sum of contributions| of all rows. */
  sumError = 0

  nodeOf(row: number): NodeId {
    return nodeIds[this.of.node.data[row] ?? 0] ?? 'n1'
  }

  /** The component for which a row is unscored. */
  failedBy(row: number): string | null {
    return this.components[(this.of.failedBy.data[row] ?? 0) - 1] ?? null
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
    const column = new Growing(new Float32Array(Math.max(firstCapacity, this.count)).fill(Number.NaN))
    this.weighted.push(column)
    return this.components.push(name) - 1
  }

  addGroup(record: LightRecord, tokens: readonly number[], texts: readonly TextBytes[], place: GroupPlace): void {
    const { group, verdicts, scores, advantages } = record
    const { of } = this
    const prompt = this.#promptFor(group.promptId)
    const node = nodeIds.indexOf(group.node)
    for (const [i, { finishReason }] of group.completions.entries()) {
      const row = this.count++
      of.step.set(row, group.step)
      of.attempt.set(row, record.attempt)
      of.node.set(row, node)
      of.finish.set(row, finishReasons.indexOf(finishReason))
      of.sample.set(row, i)
      of.dead.set(row, advantages.skipped === null ? 0 : 1)
      of.tokens.set(row, tokens[i] ?? 0)
      of.advantage.set(row, advantages.advantages[i] ?? Number.NaN)
      of.judge.set(row, verdicts[i]?.score ?? Number.NaN)
      of.prompt.set(row, prompt)
      of.file.set(row, place.file)
      of.offset.set(row, place.offset)
      of.length.set(row, place.length)
      of.groupInFile.set(row, place.groupInFile)
      of.textLength.set(row, texts[i]?.completion.length ?? 0)
      of.reasonLength.set(row, texts[i]?.reason.length ?? 0)
      this.#setScore(row, scores[i])
    }
  }

  #setScore(row: number, score: Score | undefined): void {
    for (const column of this.weighted) column.set(row, Number.NaN)
    this.of.failedBy.set(row, score?.kind === 'unscored' ? this.#componentFor(score.component) + 1 : 0)
    this.of.total.set(row, score?.kind === 'scored' ? score.total : Number.NaN)
    if (score?.kind !== 'scored') return
    let sum = 0
    for (const [name, { weighted }] of Object.entries(score.components)) {
      const column = this.weighted[this.#componentFor(name)]
      column?.set(row, weighted)
      sum += weighted
    }
    this.sumError = Math.max(this.sumError, Math.abs(sum - score.total))
  }

  /** Keeps these rows only, in this order, which is that of their numbers. Memory that is not needed any more is given back. */
  retain(rows: Uint32Array): void {
    const shrink = <C extends Column>(column: Growing<C>): void => {
      const Kind = column.data.constructor as new (length: number) => C
      const kept = new Kind(Math.max(firstCapacity, rows.length))
      for (const [to, from] of rows.entries()) kept[to] = column.data[from] ?? Number.NaN
      column.data = kept
    }
    for (const name of columnNames) shrink<Column>(this.of[name])
    for (const column of this.weighted) shrink(column)
    this.count = rows.length
  }

  /** Copies rows out; `files` gives each file's place in the list that is kept beside the block. */
  block(from: number, to: number, files: ReadonlyMap<number, number>): RowBlock {
    const columns = Object.fromEntries(
      columnNames.map((name) => [name, this.of[name].data.slice(from, to)]),
    ) as unknown as { [N in ColumnName]: Column }
    const prompts = new Map<number, number>()
    for (let i = 0; i < to - from; i++) {
      columns.file[i] = files.get(columns.file[i] ?? 0) ?? 0
      const prompt = columns.prompt[i] ?? 0
      if (!prompts.has(prompt)) prompts.set(prompt, prompts.size)
      columns.prompt[i] = prompts.get(prompt) ?? 0
    }
    return {
      rows: to - from,
      prompts: [...prompts.keys()].map((number) => this.prompts[number] ?? ''),
      components: [...this.components],
      sumError: this.sumError,
      columns,
      weighted: this.weighted.map(({ data }) => {
        const own = new Float32Array(to - from).fill(Number.NaN)
        own.set(data.subarray(from, Math.min(to, data.length)))
        return own
      }),
    }
  }

  /** Appends rows that were copied out before; `files` gives the number of each file in their list. */
  append(block: RowBlock, files: readonly number[]): void {
    const first = this.count
    const end = first + block.rows
    for (const name of columnNames) {
      this.of[name].reserve(end)
      this.of[name].data.set(block.columns[name], first)
    }
    const components = block.components.map((name) => this.#componentFor(name))
    renumber(this.of.file.data, first, end, files)
    renumber(
      this.of.prompt.data,
      first,
      end,
      block.prompts.map((id) => this.#promptFor(id)),
    )
    renumber(this.of.failedBy.data, first, end, [0, ...components.map((number) => number + 1)])
    for (const column of this.weighted) {
      column.reserve(end)
      column.data.fill(Number.NaN, first, end)
    }
    for (const [i, number] of components.entries()) {
      const values = block.weighted[i]
      if (values !== undefined) this.weighted[number]?.data.set(values, first)
    }
    this.count = end
    this.sumError = Math.max(this.sumError, block.sumError)
  }
}
