import { z } from 'zod'

/**
 * Config section `judge`. `reference` grades against the pool's targets and asks no model; with `none` the judge
 * component does not exist and the largest R is smaller by its maximum.
 */
export const JudgeConfig = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('reference') }),
    z.strictObject({ kind: z.literal('none') }),
  ])
  .default({ kind: 'reference' })
export type JudgeConfig = z.infer<typeof JudgeConfig>
