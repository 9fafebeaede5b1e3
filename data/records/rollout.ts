import { z } from 'zod'
import { NodeId } from './node.ts'

export const FinishReason = z.enum(['stop', 'length', 'abort'])

/** One sampled completion. `tokenIds` and `logprobs` have equal length and include the stop token. */
export const Completion = z.strictObject({
  index: z.int().min(0),
  /** Decoded text without the stop token; never tokenised again. */
  text: z.string(),
  tokenIds: z.array(z.int()),
  /** The sampler's log-prob of each sampled token, natural logarithm. */
  logprobs: z.array(z.number()),
  finishReason: FinishReason,
})
export type Completion = z.infer<typeof Completion>

/** The G completions of one prompt, sampled from one named policy version. */
export const RolloutGroup = z.strictObject({
  promptId: z.string(),
  node: NodeId,
  step: z.int().min(0),
  policyVersion: z.int().min(0),
  /** Name the sampler was asked for: the served base at version 0, else the adapter. */
  policyName: z.string(),
  seed: z.int().min(0),
  promptTokenIds: z.array(z.int()),
  completions: z.array(Completion),
})
export type RolloutGroup = z.infer<typeof RolloutGroup>
