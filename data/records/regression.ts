import { z } from 'zod'
import { NodeId } from './node.ts'

/** What a regression is looked for in. */
export const regressionLevels = ['total', 'node', 'component', 'accuracy'] as const
export const RegressionLevel = z.enum(regressionLevels)
export type RegressionLevel = z.infer<typeof RegressionLevel>

/** One question that the gate asked: did this measure fall by more than the margin? */
export const RegressionTest = z.strictObject({
  /** As people see it: `n3 search_api: json_schema`. */
  name: z.string(),
  level: RegressionLevel,
  node: NodeId.nullable(),
  measure: z.string(),
  prompts: z.int(),
  base: z.number(),
  trained: z.number(),
  delta: z.number(),
  interval: z.strictObject({ low: z.number(), high: z.number() }).nullable(),
  wins: z.int(),
  losses: z.int(),
  ties: z.int(),
  /** A fall of no more than this is not looked at. */
  margin: z.number(),
  /** One-sided sign-flip test of a fall of at most the margin. */
  p: z.number(),
  /** The same, adjusted over all tests of this verdict (Benjamini-Hochberg). Regressed: q is at most alpha. */
  q: z.number(),
  regressed: z.boolean(),
  /** Smallest fall, margin included, that this test finds four times in five when it is the only one that sees a fall. */
  detectable: z.number().nullable(),
})
export type RegressionTest = z.infer<typeof RegressionTest>

export const RegressionVerdict = z.strictObject({
  schema: z.literal('drift-grpo/regression/1'),
  verdict: z.enum(['pass', 'regression']),
  base: z.string(),
  trained: z.string(),
  failOn: z.array(RegressionLevel),
  alpha: z.number(),
  seed: z.int(),
  judge: z.string(),
  rewardProfile: z.string(),
  rewardMaximum: z.number(),
  /** Names of the tests that regressed, in the order of the tests. */
  regressions: z.array(z.string()),
  tests: z.array(RegressionTest),
  /** What was asked for and could not be tested, and why. */
  notTested: z.array(z.string()),
  /** Tests with so few prompts that even a fall of all of them would pass, were it the only one. */
  tooFewPrompts: z.array(z.string()),
})
export type RegressionVerdict = z.infer<typeof RegressionVerdict>
