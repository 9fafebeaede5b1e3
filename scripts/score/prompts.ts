import { PipelineError } from '../../data/errors.ts'
import { readPool } from '../../data/pool/pool-file.ts'
import type { Prompt } from '../../data/records/prompt.ts'
import type { GivenCompletion } from './given-completion.ts'

/** The prompts of one pool, by id. */
export interface PromptIndex {
  /** Throws an error that names the place of a completion whose prompt the pool does not have. */
  readonly of: (completion: GivenCompletion) => Prompt
}

/** Reads a pool whole: completions come in any order. */
export const readPromptIndex = async (path: string): Promise<PromptIndex> => {
  const prompts = new Map<string, Prompt>()
  for await (const prompt of readPool(path)) prompts.set(prompt.id, prompt)
  return {
    of: ({ where, promptId }) => {
      const prompt = prompts.get(promptId)
      if (prompt !== undefined) return prompt
      throw new PipelineError('rewards', `${where}: promptId: ${path} has no prompt ${JSON.stringify(promptId)}`, {
        remedy: `Give the pool that the completions were made from; this one has ${prompts.size} prompts.`,
      })
    },
  }
}
