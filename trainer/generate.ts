import pLimit from 'p-limit'
import type { RolloutGroup } from '../data/records/rollout.ts'
import type { BoundPrompt } from './bind-pool.ts'
import type { Sampler } from './sampler.ts'
import { promptSeed } from './seed.ts'

/** The policy version that a step samples from, under the name that the sampler knows it by. */
export interface Policy {
  readonly version: number
  readonly name: string
}

export interface GenerateRequest {
  readonly sampler: Sampler
  readonly policy: Policy
  readonly prompts: readonly BoundPrompt[]
  readonly step: number
  /** What seeds are derived from beside the run's seed: the step, or the name of an evaluation. */
  readonly stage: number | string
  readonly runSeed: number
  readonly groupSize: number
  readonly maxTokens: number
  readonly temperature: number
  /** Requests at a time. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

const generateOne = async (
  request: GenerateRequest,
  { prompt, tokenIds }: BoundPrompt,
  signal: AbortSignal,
): Promise<RolloutGroup> => {
  const { sampler, policy, step, groupSize: count, maxTokens, temperature } = request
  const seed = promptSeed(request.runSeed, request.stage, prompt.id)
  const completions = await sampler.sample(
    { policy: policy.name, promptTokenIds: tokenIds, count, maxTokens, temperature, seed },
    signal,
  )
  return {
    promptId: prompt.id,
    node: prompt.node,
    step,
    policyVersion: policy.version,
    policyName: policy.name,
    seed,
    promptTokenIds: [...tokenIds],
    completions,
  }
}

/**
 * Samples one group a prompt from one named policy version, several at a time, and hands each group on as soon as it is
 * complete; what is done with it does not hold up the sampling of the others. Results stand in the order of the prompts,
 * whatever the order of arrival. The first failure cancels what is still open, on either side.
 */
export const generateGroups = async <T>(
  request: GenerateRequest,
  onGroup: (group: RolloutGroup, prompt: BoundPrompt, signal: AbortSignal) => Promise<T>,
): Promise<T[]> => {
  const limit = pLimit(request.concurrency)
  const failed = new AbortController()
  const signal = request.signal === undefined ? failed.signal : AbortSignal.any([failed.signal, request.signal])
  /** The first failure cancels everything that is open; whatever fails after it does so for the same reason. */
  const cancelling = async <R>(action: () => Promise<R>): Promise<R> => {
    try {
      return await action()
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }
  const sampleNext = async (bound: BoundPrompt): Promise<RolloutGroup> => {
    signal.throwIfAborted()
    return await generateOne(request, bound, signal)
  }
  const one = async (bound: BoundPrompt): Promise<T> => {
    const group = await limit(() => cancelling(() => sampleNext(bound)))
    return await cancelling(() => onGroup(group, bound, signal))
  }
  const results = await Promise.allSettled(request.prompts.map(one))
  signal.throwIfAborted()
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
