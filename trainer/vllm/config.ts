import { z } from 'zod'
import { engineSettings, memoryFraction } from '../../data/engine-settings.ts'

/** `sampling.server`, kind spawn: a vLLM that is started for the run and ended with it. */
export const SpawnedSampler = z.strictObject({
  kind: z.literal('spawn'),
  memoryFraction: memoryFraction.default(0.28).describe('Share of the GPU’s memory.'),
  dtype: z
    .enum(['bfloat16', 'float16', 'float32'])
    .default('bfloat16')
    .describe('Number format of weights and adapters; the worker’s should be the same.'),
  maxLoras: z
    .int()
    .min(2)
    .default(2)
    .describe('Policy versions in the GPU at a time: the old one is used while the new one is proved.'),
  maxCpuLoras: z.int().min(2).default(3).describe('Policy versions that the engine holds in main memory.'),
  ...engineSettings,
  maxSeqs: engineSettings.maxSeqs.default(64),
})
export type SpawnedSampler = z.infer<typeof SpawnedSampler>
