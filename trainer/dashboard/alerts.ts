import { nodeContracts, nodeIds } from '../../data/records/node.ts'
import type { RunEvent } from '../../data/records/run.ts'
import { numberOf, type MetricsRow } from './series.ts'
import type { Alert } from './view.ts'

/** Rules look at so many of the latest steps. */
const window = 20

const meanOf = (rows: readonly MetricsRow[], key: string): number | null => {
  const values = rows.map((row) => numberOf(row, key)).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

interface Limit {
  readonly key: string
  readonly above: number
  readonly title: string
  readonly what: string
  readonly asPercent: boolean
}

const limits: readonly Limit[] = [
  {
    key: 'frac_reward_zero_std',
    above: 0.5,
    title: 'Most groups teach nothing',
    what: 'groups whose completions all got the same reward',
    asPercent: true,
  },
  {
    key: 'completions/clipped_ratio',
    above: 0.2,
    title: 'Many completions are cut off',
    what: 'completions that ran into the token limit',
    asPercent: true,
  },
  { key: 'kl', above: 1, title: 'Far from the base model', what: 'KL to the base', asPercent: false },
  {
    key: 'sampling/outside_share',
    above: 0.01,
    title: 'Sampler and worker disagree',
    what: 'tokens whose log-probs differ beyond the limit',
    asPercent: true,
  },
]

const shown = (value: number, asPercent: boolean): string =>
  asPercent ? `${(100 * value).toFixed(1)} %` : value.toFixed(3)

const limitAlerts = (recent: readonly MetricsRow[]): Alert[] =>
  limits.flatMap(({ key, above, title, what, asPercent }): Alert[] => {
    const value = meanOf(recent, key)
    if (value === null || value <= above) return []
    const rule = `${shown(value, asPercent)} ${what}, mean of the last ${recent.length} steps; the limit is ${shown(above, asPercent)}`
    return [{ level: 'warning', title, rule }]
  })

const unscoredAlert = (recent: readonly MetricsRow[]): Alert[] => {
  const unscored = meanOf(recent, 'completions/unscored') ?? 0
  if (unscored === 0) return []
  const rule = `${unscored.toFixed(1)} completions a step have no score, mean of the last ${recent.length} steps`
  return [{ level: 'warning', title: 'Completions without a score', rule }]
}

/** A node that stands still while it is far from its maximum. */
const fallAlerts = (rows: readonly MetricsRow[]): Alert[] =>
  nodeIds.flatMap((node): Alert[] => {
    if (rows.length < 3 * window) return []
    const key = `reward/${node}`
    const now = meanOf(rows.slice(-window), key)
    const best = Math.max(
      ...Array.from(
        { length: Math.floor(rows.length / window) },
        (_, i) => meanOf(rows.slice(i * window, (i + 1) * window), key) ?? -Infinity,
      ),
    )
    if (now === null || now > 0.9 * best || best <= 0) return []
    const rule = `reward ${now.toFixed(2)} over the last ${window} steps, ${best.toFixed(2)} over the best ${window}; the rule is a fall of more than 10 %`
    return [{ level: 'warning', title: `${node} ${nodeContracts[node].tag} has fallen`, rule }]
  })

/** Warnings of the run itself, and hints from its numbers, each with the rule that fired. */
export const alertsOf = (rows: readonly MetricsRow[], events: readonly RunEvent[]): Alert[] => {
  const recent = rows.slice(-window)
  const told = events
    .filter(({ kind }) => kind === 'warning' || kind === 'paused' || kind === 'failed')
    .slice(-10)
    .map(({ kind, message, step }): Alert => {
      const where = step === null ? '' : ` at step ${step}`
      return { level: kind === 'failed' ? 'warning' : 'note', title: `${kind}${where}`, rule: message }
    })
  return [...limitAlerts(recent), ...unscoredAlert(recent), ...fallAlerts(rows), ...told]
}
