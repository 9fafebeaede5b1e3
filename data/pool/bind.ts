import type { NodeId } from '../records/node.ts'
import type { Prompt } from '../records/prompt.ts'
import { PipelineError } from '../errors.ts'

export interface RefusedPrompt {
  readonly id: string
  readonly node: NodeId
  readonly tokens: number
}

export interface BoundPool {
  readonly kept: readonly Prompt[]
  /** Longest first. */
  readonly refused: readonly RefusedPrompt[]
}

/**
 * Keeps the prompts that fit the model: at most `limit` tokens each. Longer ones are listed, never cut. `lengths` gives
 * the number of tokens by prompt id; a missing one is an error.
 */
export const bindPool = (
  prompts: readonly Prompt[],
  lengths: ReadonlyMap<string, number>,
  limit: number,
): BoundPool => {
  const kept: Prompt[] = []
  const refused: RefusedPrompt[] = []
  for (const prompt of prompts) {
    const tokens = lengths.get(prompt.id)
    if (tokens === undefined) throw new PipelineError('pool', `prompt ${prompt.id} has no token count`)
    if (tokens <= limit) kept.push(prompt)
    else refused.push({ id: prompt.id, node: prompt.node, tokens })
  }
  return { kept, refused: refused.toSorted((a, b) => b.tokens - a.tokens || (a.id < b.id ? -1 : 1)) }
}
