import { z } from 'zod'
import { countWords } from '../../data/completion/text.ts'
import { defineReward } from '../define-reward.ts'

/** Short reasoning, but some. */
export const reward = defineReward({
  name: 'reasoning_length',
  description: 'reasoning is neither a token gesture nor an essay',
  maximum: 0.5,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({
    /** Words from which reasoning counts at all. */
    minimum: z.int().min(0).default(3),
    /** Up to this many words: the maximum. */
    full: z.int().min(0).default(50),
    /** Up to this many words: half of it. */
    half: z.int().min(0).default(75),
  }),
  score: ({ completion: { envelope } }, caps) => {
    if (envelope.body === null) return { raw: 0, detail: 'no envelope' }
    const words = countWords(envelope.body.reasoning)
    const detail = `${words} words`
    if (words < caps.minimum || words > Math.max(caps.full, caps.half)) return { raw: 0, detail }
    return { raw: words <= caps.full ? 1 : 0.5, detail }
  },
})
