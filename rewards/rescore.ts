import { parseCompletion, type ParsedCompletion } from '../data/completion/parse.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { Score, Verdict } from '../data/records/reward.ts'
import type { Judge } from '../judge/judge.ts'
import { createComposite, type Composite } from './composite.ts'
import type { RewardsConfig } from './config.ts'
import { mayAskJudge, type Judgement } from './evidence.ts'
import { askJudge } from './scorer.ts'

/** A completion that was made before, with what was concluded about it then. */
export interface RecordedCompletion {
  /** Decoded text without the end-of-turn token. */
  readonly text: string
  /** The judge's answer of then; null: not asked, or no answer. */
  readonly verdict: Verdict | null
  /** Null: never scored. */
  readonly score: Score | null
}

/** Where the verdict about a recorded completion comes from. */
export type VerdictSource = (prompt: Prompt, recorded: RecordedCompletion) => Judgement | Promise<Judgement>

/** Asks nobody: the verdict of then, or the reason of then why there was none. For judges that cost time or money. */
export const fromRecord: VerdictSource = (_, { verdict, score }) => {
  if (verdict !== null) return { kind: 'verdict', verdict }
  return { kind: 'missing', reason: score?.kind === 'unscored' ? score.reason : 'no verdict was recorded' }
}

/** Asks the judge anew, whatever was recorded: for a judge that is part of the code that is checked. */
export const askAnew =
  (judge: Judge): VerdictSource =>
  (prompt, { text }) =>
    askJudge(judge, prompt, text)

/** Asks the judge only where no verdict was recorded. */
export const recordElseAsk =
  (judge: Judge): VerdictSource =>
  (prompt, recorded) =>
    recorded.verdict === null ? askJudge(judge, prompt, recorded.text) : fromRecord(prompt, recorded)

export interface Rescored {
  readonly score: Score
  /** The verdict that went into the score; null where there was none or nobody may be asked. */
  readonly verdict: Verdict | null
}

export interface Rescorer extends Pick<Composite, 'maximum' | 'names'> {
  readonly rescore: (prompt: Prompt, recorded: RecordedCompletion) => Promise<Rescored>
}

/** The sampler gave up on it: that says nothing about the text, and no code of rewards can change it. */
const wasAborted = ({ score }: RecordedCompletion): boolean =>
  score?.kind === 'unscored' && score.component === 'sampler'

const notAsked: Judgement = { kind: 'missing', reason: 'the judge was not asked' }

/**
 * Scores completions that were made before under one configuration. A null source means that there is no judge and no
 * judge component.
 */
export const createRescorer = (config: RewardsConfig, source: VerdictSource | null): Rescorer => {
  const { maximum, names, score } = createComposite(config, source !== null)
  const { profile } = config
  const judgementOf = async (
    prompt: Prompt,
    recorded: RecordedCompletion,
    completion: ParsedCompletion,
  ): Promise<Judgement> =>
    source !== null && mayAskJudge(profile, completion) ? await source(prompt, recorded) : notAsked
  return {
    maximum,
    names,
    rescore: async (prompt, recorded) => {
      if (recorded.score !== null && wasAborted(recorded)) return { score: recorded.score, verdict: null }
      const completion = parseCompletion(recorded.text)
      const judgement = await judgementOf(prompt, recorded, completion)
      return {
        score: score({ profile, facts: prompt.facts, completion, judgement }),
        verdict: judgement.kind === 'verdict' ? judgement.verdict : null,
      }
    },
  }
}
