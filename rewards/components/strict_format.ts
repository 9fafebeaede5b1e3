import { z } from 'zod'
import { defineReward } from '../define-reward.ts'

/** The whole completion is the envelope, line by line. */
export const reward = defineReward({
  name: 'strict_format',
  description: 'the whole completion is the envelope with its line feeds, and the reasoning is not blank',
  maximum: 0.5,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({}),
  score: ({ completion: { envelope } }) =>
    envelope.body?.strict === true ? { raw: 1, detail: 'strict' } : { raw: 0, detail: 'not strict' },
})
