import { fail, ok, skip, type Check } from '../check.ts'

const gb = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

/** Python, torch and the tokenizer, before any weight: measured as the peak of a worker with a model of 1.3 M parameters, rounded up. */
const interpreterBytes = 600e6

export const memoryCheck: Check = {
  name: 'memory',
  beforeTraining: false,
  run: async ({ config, plan, memoryPlan, freeMemory }) => {
    if (config.worker.kind === 'attach') return skip('the worker runs already')
    if ((await memoryPlan()) !== null) return skip('the model is in GPU memory')
    const { memory } = await plan()
    if (memory === null) return skip('the model’s size is not known')
    const needed = interpreterBytes + memory.weights + memory.adapter + memory.cache
    const free = freeMemory()
    return free >= needed
      ? ok(`${gb(free)} free, about ${gb(needed)} needed beside activations`)
      : fail(`${gb(free)} free, about ${gb(needed)} needed`, 'End other programs, or take a smaller model.')
  },
}
