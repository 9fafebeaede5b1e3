import type { MetricsRow } from '../dashboard/series.ts'

/** What one step measured, as other programs take it: numbers only. What is null or not finite in a step is absent. */
export interface MetricPoint {
  readonly step: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly values: Readonly<Record<string, number>>
}

/** Somewhere that metrics are sent to. */
export interface Sink {
  readonly name: string
  /**
   * Whether it wants what earlier attempts of a run did as well: a sink that cannot take back what it was given begins
   * anew with each attempt, so that the later attempt wins.
   */
  readonly replays: boolean
  /** Delivers points. Called again with the same points after a failure, so it must not count them twice. */
  readonly write: (points: readonly MetricPoint[], signal: AbortSignal) => Promise<void>
  /** Says how it ended. Nothing is written afterwards. */
  readonly close: (ending: SinkEnding, signal: AbortSignal) => Promise<void>
}

export type SinkEnding = 'finished' | 'failed' | 'stopped'

/** Columns of a metrics line that say where it belongs. */
const places = new Set(['step', 'attempt', 'at'])

export const pointOf = (row: MetricsRow): MetricPoint => {
  const values: Record<string, number> = {}
  for (const [key, value] of Object.entries(row)) {
    if (!places.has(key) && typeof value === 'number' && Number.isFinite(value)) values[key] = value
  }
  return { step: row.step, at: Date.parse(row.at), values }
}
