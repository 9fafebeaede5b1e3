import { needsGpu } from '../../../trainer/memory/plan.ts'
import { fail, ok, skip, type Check } from '../check.ts'

export const gpuCheck: Check = {
  name: 'gpu',
  beforeTraining: true,
  run: async ({ config, gpus }) => {
    const found = await gpus()
    const names = found.map(({ name, totalBytes }) => `${name} (${(totalBytes / 2 ** 30).toFixed(1)} GiB)`).join(', ')
    if (found.length > 0) return ok(names)
    return needsGpu(config)
      ? fail('nvidia-smi shows no NVIDIA GPU', 'Use a machine with one, or --config tiny.yaml, which needs none.')
      : skip('none, and this config needs none')
  },
}
