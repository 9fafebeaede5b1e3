import { PipelineError } from '../data/errors.ts'
import { bindPool, type RefusedPrompt } from '../data/pool/bind.ts'
import type { Prompt, Split } from '../data/records/prompt.ts'
import type { TrainerConfig } from './config.ts'
import type { Learner } from './learner.ts'

/** A prompt with its token ids under one model's chat template. */
export interface BoundPrompt {
  readonly prompt: Prompt
  readonly tokenIds: readonly number[]
}

/** A pool under one model: what can be trained and evaluated on, and what is too long for it. */
export interface TokenizedPool {
  readonly train: readonly BoundPrompt[]
  readonly heldout: readonly BoundPrompt[]
  readonly refused: readonly RefusedPrompt[]
}

/** Tokenises prompts with the worker's own chat template and refuses those above the limit: they are listed, never cut. */
export const bindPrompts = async (
  prompts: readonly Prompt[],
  learner: Learner,
  maxPromptTokens: number,
  signal?: AbortSignal,
): Promise<{ readonly bound: readonly BoundPrompt[]; readonly refused: readonly RefusedPrompt[] }> => {
  const tokenIds = await learner.tokenize(
    prompts.map(({ id, messages }) => ({ id, messages })),
    signal,
  )
  const byId = new Map(prompts.map(({ id }, i) => [id, tokenIds[i] ?? []]))
  const lengths = new Map([...byId].map(([id, ids]) => [id, ids.length]))
  const { kept, refused } = bindPool(prompts, lengths, maxPromptTokens)
  return { bound: kept.map((prompt) => ({ prompt, tokenIds: byId.get(prompt.id) ?? [] })), refused }
}

/** Binds a pool to the worker's model (see bindPrompts). Throws a PipelineError when nothing is left to train on. */
export const tokenizePool = async (
  pool: readonly Prompt[],
  learner: Learner,
  maxPromptTokens: number,
  signal?: AbortSignal,
): Promise<TokenizedPool> => {
  const { bound, refused } = await bindPrompts(pool, learner, maxPromptTokens, signal)
  const of = (split: Split): BoundPrompt[] => bound.filter(({ prompt }) => prompt.split === split)
  const train = of('train')
  if (train.length === 0) {
    const text =
      refused.length === 0
        ? 'the pool has no training prompts'
        : `all training prompts are longer than ${maxPromptTokens} tokens`
    throw new PipelineError('pool', text, { remedy: 'Build the pool again, or raise model.maxPromptTokens.' })
  }
  return { train, heldout: of('heldout'), refused }
}

type Wishes = Pick<TrainerConfig, 'evaluation' | 'sampling'>

interface Sizes {
  readonly train: number
  readonly heldout: number
}

const few = (text: string, have: number, wanted: number): string[] => (have < wanted ? [text] : [])

/**
 * Compares a pool with what a run wants of it. Gives what people should know; throws a PipelineError where an evaluation
 * that is wanted would have nothing to evaluate on.
 */
export const checkPoolSize = ({ train, heldout }: Sizes, { evaluation, sampling }: Wishes): string[] => {
  const wish = evaluation.atEnd ? 'evaluation.atEnd' : evaluation.every === null ? null : 'evaluation.every'
  if (wish !== null && heldout === 0) {
    throw new PipelineError('pool', `${wish} wants held-out prompts, and the pool has none that can be used`, {
      remedy:
        'Give a pool with held-out prompts that fit the model, or set evaluation.atEnd to false and evaluation.every to null.',
    })
  }
  return [
    ...few(
      `the pool has ${train} training prompts: a step has fewer than sampling.promptsPerStep (${sampling.promptsPerStep})`,
      train,
      sampling.promptsPerStep,
    ),
    ...few(
      `the pool has ${heldout} held-out prompts: the evaluation has fewer than evaluation.prompts (${evaluation.prompts})`,
      heldout,
      evaluation.atEnd ? evaluation.prompts : 0,
    ),
  ]
}
