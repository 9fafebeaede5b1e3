import { z } from 'zod'
import { countWords } from '../../data/completion/text.ts'
import { defineReward } from '../define-reward.ts'

/** The whole completion is short. Paid only for a readable answer, so that silence earns nothing. */
export const reward = defineReward({
  name: 'total_length',
  description: 'the whole completion is short and its answer is a JSON object',
  maximum: 0.25,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({
    /** Up to this many words, tags included: the maximum. */
    full: z.int().min(0).default(80),
    /** Up to this many words: half of it. */
    half: z.int().min(0).default(120),
  }),
  score: ({ completion }, caps) => {
    if (!completion.answer.ok) return { raw: 0, detail: 'no JSON object' }
    const words = countWords(completion.text)
    const detail = `${words} words`
    if (words > Math.max(caps.full, caps.half)) return { raw: 0, detail }
    return { raw: words <= caps.full ? 1 : 0.5, detail }
  },
})
