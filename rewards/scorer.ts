import { parseCompletion } from '../data/completion/parse.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { Score, Verdict } from '../data/records/reward.ts'
import { type Judge, JudgeError } from '../judge/judge.ts'
import { createComposite, type Composite } from './composite.ts'
import type { RewardsConfig } from './config.ts'
import { type Evidence, type Judgement, mayAskJudge, type Profile } from './evidence.ts'

/** A score with the verdict that went into it; null where the judge was not asked or had no answer. */
export interface Assessment {
  readonly score: Score
  readonly verdict: Verdict | null
}

/** Scores completions of prompts under one configuration. */
export interface Scorer extends Pick<Composite, 'maximum' | 'names'> {
  /** Null: there is none, and no judge component. Whoever scores at length watches it and reads its counts. */
  readonly judge: Judge | null
  /** Asks the judge where the profile allows it, then scores. Resolves to Unscored when the judge fails. */
  readonly score: (prompt: Prompt, completion: string, signal?: AbortSignal) => Promise<Score>
  /** The same, with the verdict beside it. */
  readonly assess: (prompt: Prompt, completion: string, signal?: AbortSignal) => Promise<Assessment>
}

/** A judge's failure is data about one completion; any other error ends the run, as does a wish to stop, and goes up. */
export const askJudge = async (
  judge: Judge,
  prompt: Prompt,
  completion: string,
  signal?: AbortSignal,
): Promise<Judgement> => {
  try {
    return { kind: 'verdict', verdict: await judge.judge({ prompt, completion, signal }) }
  } catch (error) {
    if (error instanceof JudgeError) return { kind: 'missing', reason: error.message }
    throw error
  }
}

const gather = async (
  profile: Profile,
  prompt: Prompt,
  text: string,
  judge: Judge | null,
  signal: AbortSignal | undefined,
): Promise<Evidence> => {
  const completion = parseCompletion(text)
  const judgement: Judgement =
    judge !== null && mayAskJudge(profile, completion)
      ? await askJudge(judge, prompt, text, signal)
      : { kind: 'missing', reason: 'the judge was not asked' }
  return { profile, facts: prompt.facts, completion, judgement }
}

/** Joins the composite with the judge that feeds it; null means that there is no judge and no judge component. */
export const createScorer = (config: RewardsConfig, judge: Judge | null): Scorer => {
  const { maximum, names, score } = createComposite(config, judge !== null)
  const assess = async (prompt: Prompt, completion: string, signal?: AbortSignal): Promise<Assessment> => {
    const evidence = await gather(config.profile, prompt, completion, judge, signal)
    const { judgement } = evidence
    return { score: score(evidence), verdict: judgement.kind === 'verdict' ? judgement.verdict : null }
  }
  return { maximum, names, judge, assess, score: async (...asked) => (await assess(...asked)).score }
}
