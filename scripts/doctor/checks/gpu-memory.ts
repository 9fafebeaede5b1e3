import { fail, ok, skip, warn, type Check } from '../check.ts'

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

export const gpuMemoryCheck: Check = {
  name: 'gpu memory',
  beforeTraining: true,
  run: async ({ memoryPlan, gpus }) => {
    const plan = await memoryPlan()
    if (plan === null) return skip('nothing of this config runs on a GPU')
    if (plan.problems.length > 0) {
      const remedy = 'Change the fractions, lower worker.tokenBudget or the length limits, or take a larger GPU.'
      return fail(`the plan does not fit: ${plan.problems.join('; ')}`, remedy)
    }
    const wanted = plan.shares.reduce((sum, { limit }) => sum + limit, 0)
    const [gpu] = await gpus()
    if (gpu !== undefined && gpu.freeBytes < wanted) {
      const detail = `${gib(gpu.freeBytes)} of ${gpu.name} are free, and the processes take up to ${gib(wanted)}`
      return fail(detail, 'End what else uses the GPU (nvidia-smi lists it).')
    }
    if (plan.warnings.length > 0) return warn(plan.warnings.join('; '), 'See --dry-run for the plan in numbers.')
    return ok(`${gib(wanted)} of ${gib(plan.gpu.bytes)} in ${plan.shares.length} processes`)
  },
}
