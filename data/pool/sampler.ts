import { PipelineError } from '../errors.ts'
import { nodeIds } from '../records/node.ts'
import type { NodeId } from '../records/node.ts'
import { random, shuffle } from './random.ts'

interface Sampled {
  readonly id: string
  readonly node: NodeId
}

export interface StepRequest {
  readonly seed: number
  /** Counted from 0. */
  readonly step: number
  readonly promptsPerStep: number
}

/**
 * The order of one epoch: each node's prompts shuffled and spread evenly over it, so that every stretch holds the nodes
 * in the pool's proportions, to within one prompt a node and end.
 */
const epochOrder = <T extends Sampled>(pool: readonly T[], seed: number, epoch: number): T[] => {
  const placed = nodeIds.flatMap((node) => {
    // Sorted first: the order of the file does not matter.
    const own = pool.filter((prompt) => prompt.node === node).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const stream = random(seed, 'epoch', epoch, node)
    const offset = stream.next()
    return shuffle(own, stream).map((prompt, i) => ({ prompt, at: (i + offset) / own.length }))
  })
  return placed.toSorted((a, b) => a.at - b.at).map(({ prompt }) => prompt)
}

/** Steps in which each prompt of a pool is used exactly once. */
export const stepsPerEpoch = (poolSize: number, promptsPerStep: number): number => Math.ceil(poolSize / promptsPerStep)

/**
 * The prompts of one step: a function of the pool, the seed and the step alone. Stratified over nodes; each prompt
 * exactly once an epoch. Where the pool's size is no multiple of `promptsPerStep`, some steps have fewer prompts, as
 * evenly as possible; no step spans two epochs, so no prompt comes twice in a step.
 */
export const promptsOfStep = <T extends Sampled>(pool: readonly T[], request: StepRequest): T[] => {
  const { seed, step, promptsPerStep } = request
  if (pool.length === 0)
    throw new PipelineError('pool', 'the pool has no training prompts', { remedy: 'Use another pool.' })
  if (!Number.isInteger(step) || step < 0 || !Number.isInteger(promptsPerStep) || promptsPerStep < 1)
    throw new RangeError(`no step ${step} of ${promptsPerStep} prompts`)
  const steps = stepsPerEpoch(pool.length, promptsPerStep)
  const order = epochOrder(pool, seed, Math.floor(step / steps))
  const at = step % steps
  const edge = (i: number): number => Math.floor((i * pool.length) / steps)
  return order.slice(edge(at), edge(at + 1))
}
