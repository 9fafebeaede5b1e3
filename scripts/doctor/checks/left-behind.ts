import { ok, warn, type Check } from '../check.ts'

export const leftBehindCheck: Check = {
  name: 'left behind',
  beforeTraining: true,
  run: async ({ leftBehind }) => {
    const ended = await leftBehind()
    if (ended.length === 0) return ok('no process of a killed run is left')
    return warn(ended.join('; '), 'Nothing is left to do; drift-grpo runs shows the run, and --resume continues it.')
  },
}
