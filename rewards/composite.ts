import type { ComponentScore, Score } from '../data/records/reward.ts'
import { activeRewards, rewardMaximum, type RewardsConfig } from './config.ts'
import type { Outcome } from './define-reward.ts'
import type { Evidence } from './evidence.ts'
import { rewardRegistry, type RewardName } from './registry.generated.ts'

/** All components bound to one configuration. */
export interface Composite {
  /** Largest R under this configuration. */
  readonly maximum: number
  /** The components that count, in the order of their contributions. */
  readonly names: readonly RewardName[]
  /** Scores one completion. Pure; linear in its length; never throws. */
  readonly score: (evidence: Evidence) => Score
}

interface BoundReward {
  readonly name: RewardName
  readonly weight: number
  readonly range: readonly [min: number, max: number]
  readonly score: (evidence: Evidence) => Outcome
}

const bind = (config: RewardsConfig, name: RewardName): BoundReward => ({
  name,
  weight: config.maxima[name],
  range: rewardRegistry[name].range,
  score: rewardRegistry[name].configure(config.caps[name]),
})

/** One contribution, or the reason why this completion has no reward. */
const contribution = (reward: BoundReward, evidence: Evidence): ComponentScore | string => {
  const outcome = reward.score(evidence)
  if ('abstained' in outcome) return outcome.abstained
  const { raw, detail } = outcome
  // Written so that NaN fails too: one NaN in a group would spoil every advantage of it.
  if (!(raw >= reward.range[0] && raw <= reward.range[1])) {
    return `broken component: score ${raw} is outside [${reward.range.join(', ')}]`
  }
  return { raw, weight: reward.weight, weighted: reward.weight * raw, detail }
}

/** Binds the components to a configuration. Without a judge the components that need a verdict do not exist. */
export const createComposite = (config: RewardsConfig, judged: boolean): Composite => {
  const names = activeRewards(judged)
  const rewards = names.map((name) => bind(config, name))
  return {
    maximum: rewardMaximum(config, judged),
    names,
    score: (evidence) => {
      const components: Record<string, ComponentScore> = {}
      let total = 0
      for (const reward of rewards) {
        const result = contribution(reward, evidence)
        if (typeof result === 'string') return { kind: 'unscored', component: reward.name, reason: result }
        components[reward.name] = result
        total += result.weighted
      }
      return { kind: 'scored', total, components }
    },
  }
}
