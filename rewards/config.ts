import { z } from 'zod'
import { profiles } from './evidence.ts'
import { rewardNames, rewardRegistry, type RewardName } from './registry.generated.ts'

const components = Object.values(rewardRegistry)

/** Exactly one maximum a component: a missing or misspelt name is an error at its path, never a silent zero. */
const RewardMaxima = z.record(z.enum(rewardNames), z.number().min(0))

/** Weights fitted to published component means and totals: the publication itself prints none. */
const fittedMaxima = RewardMaxima.parse(Object.fromEntries(components.map(({ name, maximum }) => [name, maximum])))

const RewardCaps = z.strictObject(Object.fromEntries(components.map(({ name, caps }) => [name, caps.prefault({})])))

/** Config section `rewards`. A given `maxima` table must be complete; without one the fitted table holds. */
export const RewardsConfig = z.strictObject({
  profile: z.enum(profiles).default('paper'),
  maxima: RewardMaxima.default(fittedMaxima),
  caps: RewardCaps.prefault({}),
})
export type RewardsConfig = z.infer<typeof RewardsConfig>

/** The components that count: without a judge those that need a verdict are left out. */
export const activeRewards = (judged: boolean): readonly RewardName[] =>
  rewardNames.filter((name) => judged || rewardRegistry[name].needs !== 'verdict')

/** The largest R that can be reached, printed with every report: 5.60 by default, 4.60 without a judge. */
export const rewardMaximum = (config: RewardsConfig, judged: boolean): number =>
  activeRewards(judged).reduce((sum, name) => sum + config.maxima[name] * rewardRegistry[name].range[1], 0)
