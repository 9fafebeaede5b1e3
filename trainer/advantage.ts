import type { GroupAdvantages } from '../data/records/advantage.ts'
import type { NodeId } from '../data/records/node.ts'
import type { RewardBreakdown, Score } from '../data/records/reward.ts'
import { mean, sampleDeviation } from '../data/statistics.ts'

/** Added to every deviation that is divided by, as TRL does. */
export const advantageEpsilon = 1e-4

/** The scores of one prompt's completions, by completion index. */
export interface ScoredGroup {
  readonly promptId: string
  readonly node: NodeId
  readonly scores: readonly Score[]
}

export interface AdvantageOptions {
  /** What deviations are divided by: the group's, the batch's, or nothing. */
  readonly scale: 'group' | 'batch' | 'none'
  /** Smallest deviation that is divided by, in reward units. */
  readonly stdFloor: number
  /** Normalise every component by itself in its group, sum by weight, scale by the batch. */
  readonly perComponent: boolean
}

const isScored = (score: Score): score is RewardBreakdown => score.kind === 'scored'

/** Subtracts the mean; exact zeros for equal values, whatever rounding the mean has. */
const centred = (values: readonly number[]): number[] => {
  if (values.every((value) => value === values[0])) return values.map(() => 0)
  const centre = mean(values)
  return values.map((value) => value - centre)
}

const divisor = (deviation: number, floor: number): number => Math.max(deviation, floor) + advantageEpsilon

/** Centred totals of one group, and scaled by the group's own deviation where that is asked for. */
const fromTotals = (scored: readonly RewardBreakdown[], options: AdvantageOptions): number[] => {
  const totals = scored.map((score) => score.total)
  const deviations = centred(totals)
  if (options.scale !== 'group') return deviations
  const by = divisor(sampleDeviation(totals), options.stdFloor)
  return deviations.map((value) => value / by)
}

/** Weighted sum over components of their z-scores in the group. Sums to zero, so the batch mean is zero too. */
const fromComponents = (scored: readonly RewardBreakdown[], floor: number): number[] => {
  const sums = scored.map(() => 0)
  for (const [name, { weight }] of Object.entries(scored[0]?.components ?? {})) {
    const values = scored.map((score) => score.components[name]?.weighted ?? 0)
    const by = divisor(sampleDeviation(values), floor)
    for (const [i, value] of centred(values).entries()) sums[i] = (sums[i] ?? 0) + (weight * value) / by
  }
  return sums
}

interface Draft extends Omit<GroupAdvantages, 'advantages'> {
  readonly scores: readonly Score[]
  readonly values: readonly number[]
}

const draft = (group: ScoredGroup, options: AdvantageOptions): Draft => {
  const { promptId, node, scores } = group
  const scored = scores.filter(isScored)
  if (scored.length < 2) {
    return { promptId, node, scores, mean: null, std: null, values: scored.map(() => 0), skipped: 'too_few_scored' }
  }
  const totals = scored.map((score) => score.total)
  const values = options.perComponent ? fromComponents(scored, options.stdFloor) : fromTotals(scored, options)
  const skipped = values.every((value) => value === 0) ? ('no_spread' as const) : null
  return { promptId, node, scores, mean: mean(totals), std: sampleDeviation(totals), values, skipped }
}

/** What the whole batch is divided by after its groups were centred; 1 where nothing is left to do. */
const batchDivisor = (drafts: readonly Draft[], options: AdvantageOptions): number => {
  if (options.perComponent) {
    const values = drafts.filter((d) => d.skipped === null).flatMap((d) => d.values)
    return values.length < 2 ? 1 : divisor(sampleDeviation(values), 0)
  }
  if (options.scale !== 'batch') return 1
  const totals = drafts.flatMap((d) => d.scores.filter(isScored).map((score) => score.total))
  return totals.length < 2 ? 1 : divisor(sampleDeviation(totals), options.stdFloor)
}

const finish = ({ values, scores, ...rest }: Draft, by: number): GroupAdvantages => {
  const left = values.values()
  const advantages = scores.map((score) => (isScored(score) ? (left.next().value ?? 0) / by : null))
  return { ...rest, advantages }
}

/**
 * Group-relative advantages of one step's groups, in the order given: (r - mean) / (deviation + 1e-4) with the sample
 * deviation over the scored completions of the group (GRPO as TRL computes it; |A| is below (n - 1) / sqrt(n)).
 * An unscored completion takes no part and has null. A group with fewer than two scored completions, or whose
 * rewards are all exactly equal, has zeros and says why it is skipped.
 */
export const groupAdvantages = (groups: readonly ScoredGroup[], options: AdvantageOptions): GroupAdvantages[] => {
  const drafts = groups.map((group) => draft(group, options))
  const by = batchDivisor(drafts, options)
  return drafts.map((one) => finish(one, by))
}
