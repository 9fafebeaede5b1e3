import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { AuditReport } from '../../data/records/audit.ts'
import type { EvaluationStatistics } from '../../data/records/evaluation.ts'
import { EvaluationSummary, RunAttempt, RunEvent, RunMeta, RunStatus } from '../../data/records/run.ts'
import { foldersOf } from '../../data/store/folders.ts'
import { readStatistics } from '../evaluation/load.ts'
import { JsonlTail } from './jsonl-tail.ts'
import { asMetricsRow, type MetricsRow } from './series.ts'

const readText = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const readRecord = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
  const text = await readText(path)
  if (text === null) return null
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new PipelineError('checkpoint', `${path} cannot be read: ${reason}`, { cause: error })
  }
}

/** Any JSON that can be written again: what is nested without end can be read, and not sent. */
const Sendable = z.unknown().refine((value) => JSON.stringify(value) !== undefined)

/** What the dashboard needs of the resolved config; the rest is shown as it is. */
const Maxima = z.object({
  values: z.object({ rewards: z.object({ maxima: z.record(z.string(), z.number()) }) }),
})

/** Each holds the results of an evaluation and the change of each of its prompts. */
const mostStatistics = 128

/** Reads the files of one run, and remembers how far it has read those that grow. It never writes. */
export class RunReader {
  readonly id: string
  readonly root: string
  readonly #metrics: JsonlTail
  readonly #rows: MetricsRow[] = []
  readonly #statistics = new LRUCache<string, { modified: number; value: EvaluationStatistics | undefined }>({
    max: mostStatistics,
  })

  constructor(id: string, root: string) {
    this.id = id
    this.root = root
    this.#metrics = new JsonlTail(join(root, 'metrics.jsonl'))
  }

  /** All lines of metrics.jsonl so far, as they were written. */
  async metrics(): Promise<readonly MetricsRow[]> {
    const { restarted, records } = await this.#metrics.read()
    if (restarted) this.#rows.length = 0
    for (const record of records) {
      const row = asMetricsRow(record)
      if (row !== null) this.#rows.push(row)
    }
    return this.#rows
  }

  status(): Promise<RunStatus | null> {
    return readRecord(join(this.root, 'status.json'), RunStatus)
  }
  meta(): Promise<RunMeta | null> {
    return readRecord(join(this.root, 'meta.json'), RunMeta)
  }
  audit(): Promise<AuditReport | null> {
    return readRecord(join(this.root, 'audit', 'audit.json'), AuditReport)
  }
  config(): Promise<unknown> {
    return readRecord(join(this.root, 'config.resolved.json'), Sendable)
  }
  /** Largest contribution of each component; empty where the run does not say. */
  async maxima(): Promise<Record<string, number>> {
    return Maxima.safeParse(await this.config()).data?.values.rewards.maxima ?? {}
  }
  attempts(): Promise<RunAttempt[]> {
    return this.#lines('attempts.jsonl', RunAttempt)
  }
  events(): Promise<RunEvent[]> {
    return this.#lines('events.jsonl', RunEvent)
  }

  /** Names of finished evaluations. */
  evaluationNames(): Promise<string[]> {
    return foldersOf(join(this.root, 'eval'))
  }
  /** Under the name of its directory, by which it can be asked for; a copy may have got another one. */
  async evaluationSummary(name: string): Promise<EvaluationSummary | null> {
    const summary = await readRecord(join(this.root, 'eval', name, 'summary.json'), EvaluationSummary)
    return summary === null ? null : { ...summary, name }
  }
  /** Those that can be read: one of another version, or half copied, must not hide the run; its own page says why. */
  async evaluations(): Promise<EvaluationSummary[]> {
    const names = await this.evaluationNames()
    const all = await Promise.all(names.map((name) => this.evaluationSummary(name).catch(() => null)))
    return all.filter((summary) => summary !== null).toSorted((a, b) => a.step - b.step || (a.at < b.at ? -1 : 1))
  }

  /** What was computed when an evaluation was made; null where it is not beside it. Read once. */
  async statistics({ name, decoding }: EvaluationSummary): Promise<EvaluationStatistics | null> {
    const directory = join(this.root, 'eval', name)
    const file = await stat(join(directory, 'statistics.json')).catch(() => null)
    if (file === null) return null
    const known = this.#statistics.get(name)
    const kept =
      known?.modified === file.mtimeMs
        ? known
        : { modified: file.mtimeMs, value: (await readStatistics(directory)) ?? undefined }
    this.#statistics.set(name, kept)
    return kept.value?.seed === decoding.seed ? kept.value : null
  }

  async #lines<T>(name: string, schema: z.ZodType<T>): Promise<T[]> {
    const { records } = await new JsonlTail(join(this.root, name)).read()
    return records.flatMap((record) => schema.safeParse(record).data ?? [])
  }
}
