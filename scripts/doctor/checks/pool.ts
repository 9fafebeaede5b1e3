import { openPool } from '../../../data/pool/open.ts'
import { checkPoolSize } from '../../../trainer/bind-pool.ts'
import { ok, warn, type Check } from '../check.ts'

export const poolCheck: Check = {
  name: 'pool',
  beforeTraining: false,
  run: async ({ config, cwd, env, signal }) => {
    const { train, heldout, warnings } = await openPool(config.pool, config.prompts.examples, { cwd, env, signal })
    const more = checkPoolSize({ train: train.length, heldout: heldout.length }, config)
    const detail = `${train.length} training and ${heldout.length} held-out prompts`
    const all = [...warnings, ...more]
    return all.length === 0
      ? ok(detail)
      : warn(`${detail}; ${all.join('; ')}`, 'Build a larger pool, or go on with this one.')
  },
}
