import { z } from 'zod'

/** One component's contribution. weighted = weight · raw; contributions sum to the total. */
export const ComponentScore = z.strictObject({
  raw: z.number(),
  weight: z.number(),
  weighted: z.number(),
  detail: z.string(),
})
export type ComponentScore = z.infer<typeof ComponentScore>

/** All components of one completion and their sum R. */
export const RewardBreakdown = z.strictObject({
  kind: z.literal('scored'),
  total: z.number(),
  components: z.record(z.string(), ComponentScore),
})
export type RewardBreakdown = z.infer<typeof RewardBreakdown>

/** No reward exists for this completion. It is excluded from its group and has no gradient; it is never a zero. */
export const Unscored = z.strictObject({
  kind: z.literal('unscored'),
  component: z.string(),
  reason: z.string(),
})
export type Unscored = z.infer<typeof Unscored>

export const Score = z.discriminatedUnion('kind', [RewardBreakdown, Unscored])
export type Score = z.infer<typeof Score>

/** A judge's answer about one completion. */
export const Verdict = z.strictObject({
  score: z.number().min(0).max(1),
  reason: z.string(),
  /** Which judge: a model name, or `reference` for the one that reads targets. */
  model: z.string(),
  cached: z.boolean(),
  latencyMs: z.number().min(0),
})
export type Verdict = z.infer<typeof Verdict>
