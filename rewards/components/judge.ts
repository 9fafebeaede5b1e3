import { z } from 'zod'
import { defineReward } from '../define-reward.ts'
import { mayAskJudge } from '../evidence.ts'

/** The judge's score. Without a verdict there is no reward at all, except where the profile forbids to ask. */
export const reward = defineReward({
  name: 'judge',
  description: "the judge's verdict on the content",
  maximum: 1,
  range: [0, 1],
  needs: 'verdict',
  caps: z.strictObject({}),
  score: ({ profile, completion, judgement }) => {
    // By rule, not by failure: hardened pays nothing for content that nobody could have read.
    if (!mayAskJudge(profile, completion)) {
      return { raw: 0, detail: `not asked: ${completion.envelope.body === null ? 'no envelope' : 'no JSON object'}` }
    }
    if (judgement.kind === 'missing') return { abstained: judgement.reason }
    return { raw: judgement.verdict.score, detail: judgement.verdict.reason }
  },
})
