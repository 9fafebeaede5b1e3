import { type ParsedCompletion, parseCompletion } from '../data/completion/parse.ts'
import type { PromptFacts } from '../data/records/prompt.ts'
import type { Verdict } from '../data/records/reward.ts'

export const profiles = ['paper', 'hardened'] as const

/**
 * `paper`: the rules as they were first described; the judge sees every completion. `hardened`: the judge sees only
 * completions whose envelope and JSON parse, and sanity also checks what the prompt itself decides.
 */
export type Profile = (typeof profiles)[number]

/** The judge's answer, or why there is none. A missing one is never a zero. */
export type Judgement =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  | { readonly kind: 'missing'; readonly reason: string }

/** The only thing a component sees. What costs I/O was gathered before it was made. */
export interface Evidence {
  readonly profile: Profile
  /** What the prompt shows, with its node. */
  readonly facts: PromptFacts
  readonly completion: ParsedCompletion
  readonly judgement: Judgement
}

const notAsked: Judgement = { kind: 'missing', reason: 'no verdict was given' }

/** Parses a completion into evidence. Linear in its length; never throws. */
export const gatherEvidence = (
  profile: Profile,
  facts: PromptFacts,
  text: string,
  judgement: Judgement = notAsked,
): Evidence => ({
  profile,
  facts,
  completion: parseCompletion(text),
  judgement,
})

/** False only where the hardened profile rules the judge out: no envelope, or no JSON object in its answer. */
export const mayAskJudge = (profile: Profile, completion: ParsedCompletion): boolean =>
  profile === 'paper' || completion.answer.ok
