import type { Series, SeriesReply } from './view.ts'

/** A line of metrics.jsonl, read leniently: a chart shows what is a number, whatever wrote it. */
export type MetricsRow = Readonly<Record<string, unknown>> & {
  readonly step: number
  readonly attempt: number
  readonly at: string
}

export const asMetricsRow = (value: unknown): MetricsRow | null => {
  if (typeof value !== 'object' || value === null) return null
  const { step, attempt, at } = value as Record<string, unknown>
  const isRow = Number.isInteger(step) && Number.isInteger(attempt) && typeof at === 'string'
  return isRow ? (value as MetricsRow) : null
}

export const numberOf = (row: MetricsRow | undefined, key: string): number | null => {
  const value = row !== undefined && Object.hasOwn(row, key) ? row[key] : null
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/**
 * Splits rows into what counts and what was done again: a later attempt wins from its first step on. Rows of one attempt
 * are in the order of their steps; a step that stands twice in an attempt counts once, as written last.
 */
export const splitAttempts = (
  rows: readonly MetricsRow[],
): { current: MetricsRow[]; superseded: Map<number, MetricsRow[]> } => {
  const byAttempt = new Map<number, Map<number, MetricsRow>>()
  for (const row of rows) {
    const steps = byAttempt.get(row.attempt) ?? new Map<number, MetricsRow>()
    byAttempt.set(row.attempt, steps.set(row.step, row))
  }
  const current: MetricsRow[] = []
  const superseded = new Map<number, MetricsRow[]>()
  let limit = Infinity
  for (const attempt of [...byAttempt.keys()].toSorted((a, b) => b - a)) {
    const own = [...(byAttempt.get(attempt)?.values() ?? [])].toSorted((a, b) => a.step - b.step)
    current.push(...own.filter(({ step }) => step < limit))
    const lost = own.filter(({ step }) => step >= limit)
    if (lost.length > 0) superseded.set(attempt, lost)
    limit = Math.min(limit, own[0]?.step ?? Infinity)
  }
  return { current: current.toSorted((a, b) => a.step - b.step), superseded }
}

const columnsOf = (rows: readonly MetricsRow[], keys: readonly string[]): Series => ({
  steps: rows.map(({ step }) => step),
  attempts: rows.map(({ attempt }) => attempt),
  at: rows.map(({ at }) => at),
  values: Object.fromEntries(keys.map((key) => [key, rows.map((row) => numberOf(row, key))])),
})

/** The wanted columns. A pattern that ends in `*` stands for every key that begins so. */
export const seriesOf = (rows: readonly MetricsRow[], patterns: readonly string[]): SeriesReply => {
  const { current, superseded } = splitAttempts(rows)
  const known = new Set(rows.flatMap((row) => Object.keys(row)))
  const keys = patterns.flatMap((pattern) =>
    pattern.endsWith('*') ? [...known].filter((key) => key.startsWith(pattern.slice(0, -1))) : [pattern],
  )
  const wanted = [...new Set(keys)]
  return {
    current: columnsOf(current, wanted),
    superseded: [...superseded.values()].map((lost) => columnsOf(lost, wanted)),
  }
}
