import { z } from 'zod'
import { countCodePoints } from '../../data/completion/text.ts'
import { defineReward } from '../define-reward.ts'

/** A quarter of the maximum for each tag that occurs exactly once, less a price for text after the answer. */
export const reward = defineReward({
  name: 'xml_count',
  description: 'each of the four tags exactly once; text after the last </answer> costs',
  maximum: 0.5,
  range: [-1, 1],
  needs: 'completion',
  caps: z.strictObject({
    /** Cost of one code point after the answer, as a share of the maximum: 0.002 × 0.5 = 0.001 of R. */
    trailingPenalty: z.number().min(0).max(1).default(0.002),
    /** Lowest score, as a share of the maximum. */
    floor: z.number().min(-1).max(0).default(-1),
  }),
  score: ({ completion: { envelope } }, caps) => {
    const tags = envelope.counts.filter((count) => count === 1).length
    const trailing = countCodePoints(envelope.trailing)
    const raw = Math.max(caps.floor, tags / 4 - trailing * caps.trailingPenalty)
    return { raw, detail: `${tags} of 4 tags once, ${trailing} code points after the answer` }
  },
})
