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

  /** A quick no for most. */
  hasStep(step: number): boolean {
    return this.#bySteps.has(step)
  }

  of({ attempt, step, group, sample }: CompletionName): Label | null {
    const record = this.#bySteps
      .get(step)
      ?.find((one) => one.attempt === attempt && one.group === group && one.sample === sample)
    return record === undefined || record.label === 'none' ? null : record.label
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
