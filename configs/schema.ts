import { z } from 'zod'
import { PoolConfig } from '../data/pool/config.ts'
import { JudgeConfig } from '../judge/config.ts'
import { rewardMaximum, RewardsConfig } from '../rewards/config.ts'
import { trainerSections } from '../trainer/config.ts'

const Sections = z.strictObject({
  ...trainerSections,
  pool: PoolConfig,
  rewards: RewardsConfig.prefault({}),
  judge: JudgeConfig,
})
type Sections = z.infer<typeof Sections>

/** A rule across sections: where to report, and what is wrong; undefined when all is well. */
type CrossRule = (config: Sections) => { readonly path: readonly string[]; readonly message: string } | undefined

const crossRules: readonly CrossRule[] = [
  ({ pool, sampling }) =>
    pool.kind === 'world' && sampling.promptsPerStep > pool.train
      ? { path: ['sampling', 'promptsPerStep'], message: `must be at most pool.train (${pool.train})` }
      : undefined,
  ({ pool, evaluation }) =>
    pool.kind === 'world' && evaluation.prompts > pool.heldout
      ? { path: ['evaluation', 'prompts'], message: `must be at most pool.heldout (${pool.heldout})` }
      : undefined,
  ({ judge, rewards }) =>
    rewardMaximum(rewards, judge.kind !== 'none') > 0
      ? undefined
      : { path: ['rewards', 'maxima'], message: 'no component can give any reward: raise at least one maximum' },
]

/** The whole config: each folder owns its section, the rules across sections are here. */
export const Config = Sections.superRefine((config, context) => {
  for (const rule of crossRules) {
    const broken = rule(config)
    if (broken !== undefined) context.addIssue({ code: 'custom', path: [...broken.path], message: broken.message })
  }
})
export type Config = z.infer<typeof Config>
