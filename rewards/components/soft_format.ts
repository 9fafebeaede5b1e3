import { z } from 'zod'
import { defineReward } from '../define-reward.ts'

/** The envelope is there, whatever stands around it. A strict completion earns this too. */
export const reward = defineReward({
  name: 'soft_format',
  description: 'each tag once and in order, only white space between the two blocks',
  maximum: 0.25,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({}),
  score: ({ completion: { envelope } }) => {
    if (envelope.body === null) return { raw: 0, detail: 'no envelope' }
    return envelope.body.adjacent ? { raw: 1, detail: 'envelope' } : { raw: 0, detail: 'text between the blocks' }
  },
})
