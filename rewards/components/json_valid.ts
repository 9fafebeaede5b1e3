import { z } from 'zod'
import { defineReward } from '../define-reward.ts'

/** The answer is one JSON object by the letter of RFC 8259: no repair, no duplicate keys. */
export const reward = defineReward({
  name: 'json_valid',
  description: 'the answer is exactly one strict JSON object',
  maximum: 1,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({}),
  score: ({ completion: { answer } }) => (answer.ok ? { raw: 1, detail: 'valid' } : { raw: 0, detail: answer.reason }),
})
