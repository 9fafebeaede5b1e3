import type { JudgeCounts } from '../judge/judge.ts'
import type { Assessment } from '../rewards/scorer.ts'
import { unjudged } from './score.ts'

type Numbers = { readonly [K in Exclude<keyof JudgeCounts, 'failures'>]: string }

/** Metric keys of the counts. */
const keys: Numbers = {
  requests: 'judge/requests',
  retries: 'judge/retries',
  memoryHits: 'judge/memory_hits',
  diskHits: 'judge/disk_hits',
  joined: 'judge/joined',
  storeFailures: 'judge/store_failures',
  promptTokens: 'judge/prompt_tokens',
  completionTokens: 'judge/completion_tokens',
  outages: 'judge/outages',
  pausedSeconds: 'judge/paused_seconds',
}
const names = Object.keys(keys) as (keyof Numbers)[]

/** What was done between two readings of a judge's counts; null where it keeps none. */
export const countsBetween = (before: JudgeCounts | undefined, after: JudgeCounts | undefined): JudgeCounts | null => {
  if (before === undefined || after === undefined) return null
  const numbers = Object.fromEntries(names.map((name) => [name, after[name] - before[name]]))
  const failures = Object.entries(after.failures).map(([kind, count]) => [kind, count - (before.failures[kind] ?? 0)])
  return {
    ...(numbers as Record<keyof Numbers, number>),
    failures: Object.fromEntries(failures) as JudgeCounts['failures'],
  }
}

/**
 * Metrics of judging in one step. `judge/hit_rate`: share of the questions that were answered without a request of their own;
 * null when there was no question.
 */
export const judgeMetrics = (
  assessments: readonly Assessment[],
  counts: JudgeCounts | null,
): Record<string, number | null> => {
  const { asked, reasons } = unjudged(assessments)
  const unscored = { 'judge/unscored': reasons.length }
  if (counts === null) return unscored
  const hits = counts.memoryHits + counts.diskHits + counts.joined
  return {
    ...unscored,
    ...Object.fromEntries(names.map((name) => [keys[name], counts[name]])),
    ...Object.fromEntries(Object.entries(counts.failures).map(([kind, count]) => [`judge/failures/${kind}`, count])),
    'judge/hit_rate': asked === 0 ? null : hits / asked,
  }
}
