import { z } from 'zod'
import { seconds } from './duration.ts'

/** What the two sections that start a vLLM have in common: the policy's sampler and the judge. */
export const engineSettings = {
  command: z.string().min(1).default('vllm').describe('The vllm program: a path, or a name on PATH.'),
  maxSeqs: z.int().min(1).describe('Sequences that are decoded at a time (--max-num-seqs).'),
  enforceEager: z
    .boolean()
    .default(false)
    .describe('Without CUDA graphs (--enforce-eager): slower, starts sooner, less memory.'),
  startTimeoutSeconds: seconds
    .default(1200)
    .describe('How long loading the model and making its CUDA graphs may take; the first start is the longest.'),
  extraArguments: z
    .array(z.string().min(1))
    .default([])
    .describe('Further arguments of vllm serve, as they are; those that are set here already are refused.'),
} as const

/** Share of the GPU's whole memory that an engine may take (--gpu-memory-utilization). */
export const memoryFraction = z.number().positive().lt(1)
