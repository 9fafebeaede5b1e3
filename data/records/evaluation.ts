import { z } from 'zod'
import { NodeId } from './node.ts'

/** One measure, trained against base, paired by prompt: samples of a prompt are averaged first. */
export const PairedResult = z.strictObject({
  /** `reward`, `judge`, `component/<name>`, `exactly_right`, or another measure by its name. */
  measure: z.string(),
  /** Null: over all nodes. */
  node: NodeId.nullable(),
  /** Class of the targets that are looked at; null: all. */
  targetClass: z.string().nullable(),
  /** Prompts with a value on both sides, and those that have one on neither or on one side only. */
  prompts: z.int(),
  leftOut: z.int(),
  base: z.number(),
  trained: z.number(),
  delta: z.number(),
  /** 95 % interval of delta by a bootstrap over prompts; null with one prompt. */
  interval: z.strictObject({ low: z.number(), high: z.number() }).nullable(),
  /** Prompts whose value rose, fell, stayed. For a measure where less is better a win still is a rise. */
  wins: z.int(),
  losses: z.int(),
  ties: z.int(),
  /** Two-sided sign-flip test of no difference. */
  p: z.number(),
  /** Adjusted over all node × component tests (Benjamini-Hochberg); null for results outside that family. */
  q: z.number().nullable(),
  /** Smallest true difference that as many prompts with this spread would show four times in five at 5 %. */
  detectable: z.number().nullable(),
})
export type PairedResult = z.infer<typeof PairedResult>

/** One prompt's mean rewards over its samples. */
export const PromptDelta = z.strictObject({
  promptId: z.string(),
  node: NodeId,
  base: z.number(),
  trained: z.number(),
  delta: z.number(),
})
export type PromptDelta = z.infer<typeof PromptDelta>

/** eval/<name>/statistics.json: a pure function of base.jsonl and trained.jsonl, equal to the digit when repeated. */
export const EvaluationStatistics = z.strictObject({
  seed: z.int(),
  resamples: z.int(),
  level: z.number(),
  results: z.array(PairedResult),
  /** By delta, smallest first. */
  promptDeltas: z.array(PromptDelta),
})
export type EvaluationStatistics = z.infer<typeof EvaluationStatistics>
