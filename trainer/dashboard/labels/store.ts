import { constants } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { PipelineError } from '../../../data/errors.ts'
import { appendJsonl } from '../../../data/store/jsonl.ts'
import { JsonlTail } from '../jsonl-tail.ts'
import { LabelRecord, type CompletionName, type Mark } from './record.ts'

export const labelsFile = 'labels.jsonl'

/** A mark that counts. */
export type Label = Exclude<Mark, 'none'>

const nameOf = ({ attempt, step, group, sample }: CompletionName): string => `${attempt}:${step}:${group}:${sample}`

const none: readonly LabelRecord[] = []

/** What reviewers said of the completions of a run. */
export class Labels {
  readonly #root: string
  readonly #path: string
  readonly #tail: JsonlTail
  readonly #kept = new Map<string, LabelRecord>()
  /** The marks that count, by step: a filter asks for every completion of a run. */
  readonly #bySteps = new Map<number, LabelRecord[]>()

  constructor(root: string) {
    this.#root = root
    this.#path = join(root, labelsFile)
    this.#tail = new JsonlTail(this.#path)
  }

  /** Reads what came since the last time. A line that is none, or of another version, is left out. */
  async refresh(): Promise<void> {
    const { restarted, records } = await this.#tail.read()
    if (restarted) this.#kept.clear()
    for (const record of records) {
      const { data } = LabelRecord.safeParse(record)
      if (data === undefined) continue
      if (data.label === 'none') this.#kept.delete(nameOf(data))
      else this.#kept.set(nameOf(data), data)
    }
    if (restarted || records.length > 0) this.#sort()
  }

  #sort(): void {
    this.#bySteps.clear()
    for (const record of this.#kept.values()) {
      const others = this.#bySteps.get(record.step)
      if (others === undefined) this.#bySteps.set(record.step, [record])
      else others.push(record)
    }
  }

  /** The marks that count of a step's completions. */
  inStep(step: number): readonly LabelRecord[] {
    return this.#bySteps.get(step) ?? none
  }

  of({ attempt, step, group, sample }: CompletionName): Label | null {
    const isIt = (one: LabelRecord): boolean => one.attempt === attempt && one.group === group && one.sample === sample
    const label = this.inStep(step).find(isIt)?.label ?? 'none'
    return label === 'none' ? null : label
  }

  /** The marks that count, in the order of their completions' first ones. */
  all(): LabelRecord[] {
    return [...this.#kept.values()]
  }

  /** May a mark be added? */
  async isWritable(): Promise<boolean> {
    return access(this.#root, constants.W_OK).then(
      () => true,
      () => false,
    )
  }

  /** Throws a PipelineError where the run's directory takes no mark. */
  async add(record: LabelRecord): Promise<void> {
    const file = await lstat(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    // A link would let a run that somebody sent write into another file.
    if (file !== null && !file.isFile())
      throw new PipelineError('storage', `${this.#path} is no file of its own`, {
        remedy: 'Remove it: marks are then written to a new file.',
      })
    await appendJsonl(this.#path, [record], { sync: true })
  }
}
