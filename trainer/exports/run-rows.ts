import { RolloutRecord } from '../../data/records/run.ts'
import type { Cell } from '../../data/store/csv.ts'
import { readJsonl, readRecords } from '../../data/store/jsonl.ts'
import { asMetricsRow, splitAttempts, type MetricsRow } from '../dashboard/series.ts'
import type { RunDirectory } from '../run-directory.ts'

const damage = { boundary: 'checkpoint', remedy: 'Restore it from a copy of the run.' } as const

/** Lines of metrics.jsonl that count: of a step that was made again, what the later attempt made. In the order of steps. */
export const readMetrics = async (run: RunDirectory): Promise<MetricsRow[]> => {
  const rows: MetricsRow[] = []
  for await (const record of readJsonl(run.metrics)) {
    const row = asMetricsRow(record)
    if (row !== null) rows.push(row)
  }
  return splitAttempts(rows).current
}

/** Columns of metrics: where a line belongs, then every measure that any line has. */
export const metricsColumns = (rows: readonly MetricsRow[]): string[] => [
  ...new Set(['step', 'attempt', 'at', ...rows.flatMap((row) => Object.keys(row))]),
]

/** One completion of a run as a flat row; a component that was not scored is null. */
export type RolloutRow = Readonly<Record<string, Cell>>

const scoreCells = (score: RolloutRecord['scores'][number] | undefined, components: readonly string[]): RolloutRow => {
  const scored = score?.kind === 'scored' ? score : null
  return {
    reward: scored?.total ?? null,
    unscored: score?.kind === 'unscored' ? `${score.component}: ${score.reason}` : null,
    ...Object.fromEntries(components.map((name) => [`reward/${name}`, scored?.components[name]?.weighted ?? null])),
  }
}

const rowsOf = (record: RolloutRecord, components: readonly string[]): RolloutRow[] =>
  record.group.completions.map((completion, i) => ({
    step: record.group.step,
    attempt: record.attempt,
    node: record.group.node,
    prompt_id: record.group.promptId,
    sample: completion.index,
    policy_version: record.group.policyVersion,
    finish_reason: completion.finishReason,
    tokens: completion.tokenIds.length,
    advantage: record.advantages.advantages[i] ?? null,
    ...scoreCells(record.scores[i], components),
    judge_score: record.verdicts[i]?.score ?? null,
    judge_reason: record.verdicts[i]?.reason ?? null,
    completion: completion.text,
  }))

/** Rows of one step, in the order of its file; none where the step's file is gone. */
export async function* rolloutRows(
  run: RunDirectory,
  step: number,
  components: readonly string[],
): AsyncGenerator<RolloutRow> {
  try {
    for await (const record of readRecords(run.rollouts(step), RolloutRecord, damage)) yield* rowsOf(record, components)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Names of the components that a run's completions were scored with, from the means in its metrics. */
export const componentsOf = (rows: readonly MetricsRow[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row).flatMap((key) => /^reward\/n\d\/(.+)$/.exec(key)?.[1] ?? []))),
]

/** Columns of a rollouts table. */
export const rolloutColumns = (components: readonly string[]): string[] => [
  ...['step', 'attempt', 'node', 'prompt_id', 'sample', 'policy_version', 'finish_reason', 'tokens', 'advantage'],
  ...['reward', 'unscored', ...components.map((name) => `reward/${name}`)],
  ...['judge_score', 'judge_reason', 'completion'],
]
