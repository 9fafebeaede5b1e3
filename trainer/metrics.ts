import type { GroupAdvantages } from '../data/records/advantage.ts'
import type { StepMetrics } from '../data/records/metrics.ts'
import { nodeIds, type NodeId } from '../data/records/node.ts'
import type { RewardBreakdown } from '../data/records/reward.ts'
import type { UpdateResult } from '../data/records/update.ts'
import type { JudgeCounts } from '../judge/judge.ts'
import { mean, meanOrNull } from '../data/statistics.ts'
import type { CanaryReport } from './canary.ts'
import { judgeMetrics } from './judge-metrics.ts'
import type { AssessedGroup } from './score.ts'

/** Seconds of one step, by what they were spent on; they add up to the step. */
export interface StepTimes {
  /** Until the last group was complete; scoring runs beside it. */
  readonly sample: number
  /** What scoring still needed after that. */
  readonly score: number
  readonly update: number
  readonly publish: number
  /** Everything else: choosing prompts, advantages, packing, writing. */
  readonly other: number
}

export interface StepOutcome {
  readonly step: number
  readonly attempt: number
  readonly at: string
  readonly fromVersion: number
  readonly version: number
  readonly groups: readonly AssessedGroup[]
  readonly advantages: readonly GroupAdvantages[]
  /** Null when no group had a gradient. */
  readonly update: UpdateResult | null
  readonly canary: CanaryReport | null
  /** Completion tokens of the run so far, this step included. */
  readonly totalTokens: number
  /** What the judge did in this step; null or absent where it asks nobody. */
  readonly judge?: JudgeCounts | null
  readonly times: StepTimes
}

type Values = Record<string, number | null>

const scoredOf = (groups: readonly AssessedGroup[]): RewardBreakdown[] =>
  groups.flatMap(({ assessments }) => assessments.flatMap(({ score }) => (score.kind === 'scored' ? [score] : [])))

/** Means over completions, not over groups, so that unequal counts cannot skew them. */
const rewardMeans = (groups: readonly AssessedGroup[]): Values => {
  const values: Values = { reward: meanOrNull(scoredOf(groups).map((score) => score.total)) }
  for (const node of nodeIds) {
    const scored = scoredOf(groups.filter(({ group }) => group.node === node))
    if (scored.length === 0) continue
    values[`reward/${node}`] = mean(scored.map((score) => score.total))
    for (const name of Object.keys(scored[0]?.components ?? {})) {
      values[`reward/${node}/${name}`] = mean(scored.map((score) => score.components[name]?.weighted ?? 0))
    }
  }
  return values
}

/**
 * Share of the within-group variance of R that each component carries: covariance of its contribution with R, summed
 * over groups, over the summed variance. Shares add up to 1; a negative one works against R.
 */
export const varianceShares = (groups: readonly AssessedGroup[]): Record<string, number> => {
  const shares: Record<string, number> = {}
  let variance = 0
  for (const group of groups) {
    const scored = scoredOf([group])
    if (scored.length < 2) continue
    const centre = mean(scored.map((score) => score.total))
    for (const score of scored) {
      variance += (score.total - centre) ** 2
      for (const [name, { weighted }] of Object.entries(score.components)) {
        const own = mean(scored.map((other) => other.components[name]?.weighted ?? 0))
        shares[name] = (shares[name] ?? 0) + (weighted - own) * (score.total - centre)
      }
    }
  }
  return variance === 0
    ? {}
    : Object.fromEntries(Object.entries(shares).map(([name, value]) => [name, value / variance]))
}

/** Groups without a gradient: in all, by node, and by reason. */
const groupCounts = (advantages: readonly GroupAdvantages[]): Values => {
  const count = (test: (one: GroupAdvantages) => boolean): number => advantages.filter(test).length
  const values: Values = {
    reward_std: meanOrNull(advantages.flatMap(({ std }) => (std === null ? [] : [std]))),
    frac_reward_zero_std: count((one) => one.skipped === 'no_spread') / advantages.length,
    'groups/total': advantages.length,
    'groups/no_spread': count((one) => one.skipped === 'no_spread'),
    'groups/too_few_scored': count((one) => one.skipped === 'too_few_scored'),
  }
  const nodes = new Set<NodeId>(advantages.map((one) => one.node))
  for (const node of nodes) values[`groups/${node}/dead`] = count((one) => one.node === node && one.skipped !== null)
  return values
}

const completionStats = (groups: readonly AssessedGroup[]): Values => {
  const completions = groups.flatMap(({ group }) => group.completions)
  const assessments = groups.flatMap((group) => group.assessments)
  const lengths = completions.map(({ tokenIds }) => tokenIds.length)
  const verdicts = assessments.flatMap(({ verdict }) => (verdict === null ? [] : [verdict]))
  return {
    'completions/mean_length': meanOrNull(lengths),
    'completions/min_length': Math.min(...lengths),
    'completions/max_length': Math.max(...lengths),
    'completions/clipped_ratio':
      completions.filter(({ finishReason }) => finishReason === 'length').length / completions.length,
    'completions/unscored': assessments.filter(({ score }) => score.kind === 'unscored').length,
    'judge/calls': verdicts.filter(({ cached }) => !cached).length,
    'judge/cached': verdicts.filter(({ cached }) => cached).length,
  }
}

/** Keys of an update's numbers, in the order of the line. */
const updateKeys: Readonly<Record<string, (update: UpdateResult) => number>> = {
  loss: (update) => update.loss,
  kl: (update) => update.kl,
  entropy: (update) => update.entropy,
  grad_norm: (update) => update.gradNorm,
  learning_rate: (update) => update.learningRate,
  'clip_ratio/low_mean': (update) => update.clipRatio.low,
  'clip_ratio/high_mean': (update) => update.clipRatio.high,
  'clip_ratio/region_mean': (update) => update.clipRatio.region,
  'sampling/sampling_logp_difference/mean': (update) => update.mismatch.meanAbs,
  'sampling/sampling_logp_difference/max': (update) => update.mismatch.maxAbs,
  'sampling/outside_share': (update) => update.mismatch.outsideShare,
  'sampling/mismatch_k3': (update) => update.mismatch.k3,
  'worker/peak_rss_bytes': (update) => update.peakRssBytes,
}

const updateStats = (update: UpdateResult | null): Values =>
  Object.fromEntries(Object.entries(updateKeys).map(([key, read]) => [key, update === null ? null : read(update)]))

/** JSON has no NaN and no infinity: such a value is written as null. */
const finite = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, value !== null && Number.isFinite(value) ? value : null]),
  )

/** One line of metrics.jsonl from everything that a step produced. Pure. */
export const summariseStep = (outcome: StepOutcome): StepMetrics => {
  const { step, attempt, at, fromVersion, version, groups, times } = outcome
  const shares = Object.entries(varianceShares(groups)).map(
    ([name, share]) => [`variance_share/${name}`, share] as const,
  )
  const timing = Object.entries(times).map(([name, seconds]) => [`time/${name}`, seconds as number] as const)
  return {
    step,
    attempt,
    at,
    from_version: fromVersion,
    policy_version: version,
    ...finite({
      ...rewardMeans(groups),
      ...groupCounts(outcome.advantages),
      ...completionStats(groups),
      ...judgeMetrics(
        groups.flatMap(({ assessments }) => assessments),
        outcome.judge ?? null,
      ),
      ...updateStats(outcome.update),
      'sampling/canary_difference': outcome.canary?.difference ?? null,
      'sampling/canary_moved': outcome.canary?.moved ?? null,
      ...Object.fromEntries(shares),
      num_tokens: outcome.totalTokens,
      step_time: times.sample + times.score + times.update + times.publish + times.other,
      ...Object.fromEntries(timing),
    }),
  }
}
