import { z } from 'zod'
import { NodeId } from './node.ts'

/** Why a group gives no gradient. */
export const SkipReason = z.enum(['too_few_scored', 'no_spread'])

/** Group-normalised advantages, by completion index; an unscored completion has null. */
export const GroupAdvantages = z.strictObject({
  promptId: z.string(),
  node: NodeId,
  /** Mean and sample (Bessel) deviation of the scored rewards; null with too few of them. */
  mean: z.number().nullable(),
  std: z.number().nullable(),
  advantages: z.array(z.number().nullable()),
  skipped: SkipReason.nullable(),
})
export type GroupAdvantages = z.infer<typeof GroupAdvantages>
