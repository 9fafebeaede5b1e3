import type { Prompt } from '../../data/records/prompt.ts'
import { compareScores, type ScoreChange } from '../../rewards/score-change.ts'
import type { Rescored, Rescorer } from '../../rewards/rescore.ts'
import type { GivenCompletion } from './given-completion.ts'
import { mapOrdered } from './ordered.ts'
import type { PromptIndex } from './prompts.ts'
import { ScoreTally, type ScoreRows } from './tally.ts'

/** One completion with its new score, and how that differs from the recorded one; null where it does not. */
export interface RescoredCompletion extends Rescored {
  readonly given: GivenCompletion
  readonly prompt: Prompt
  readonly change: ScoreChange | null
}

export interface RescoreRequest {
  readonly completions: AsyncIterable<GivenCompletion>
  readonly prompts: PromptIndex
  readonly rescorer: Rescorer
  /** Scores that are under way at a time; matters only where a judge is asked. */
  readonly concurrency: number
  /** Whether recorded scores are compared with. */
  readonly compares: boolean
  /** Told about each completion, in order; the next ones wait for it. */
  readonly onScore: (completion: RescoredCompletion) => Promise<void>
}

export interface RescoreResult extends ScoreRows {
  readonly changed: number
}

/** Scores a stream of completions and adds them up. Memory does not grow with their number. */
export const rescoreStream = async (request: RescoreRequest): Promise<RescoreResult> => {
  const { completions, prompts, rescorer, concurrency, compares, onScore } = request
  const tally = new ScoreTally()
  let changed = 0
  const scored = mapOrdered(completions, concurrency, async (given): Promise<RescoredCompletion> => {
    const prompt = prompts.of(given)
    const rescored = await rescorer.rescore(prompt, given)
    return {
      ...rescored,
      given,
      prompt,
      change: compares && given.score !== null ? compareScores(given.score, rescored.score) : null,
    }
  })
  for await (const completion of scored) {
    tally.add(completion.prompt.node, completion.score)
    if (completion.change !== null) changed += 1
    await onScore(completion)
  }
  return { ...tally.rows(), changed }
}
