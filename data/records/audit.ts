import { z } from 'zod'
import { NodeId } from './node.ts'

const share = z.number().min(0).max(1)
const interval = z.tuple([z.number(), z.number()])

/** Rank correlation (Spearman) of judge scores with something else. Null: too few pairs, or no spread. */
export const AuditCorrelation = z.strictObject({
  n: z.int(),
  spearman: z.number().nullable(),
  /** 95 %, by Fisher's transformation; null with fewer than ten pairs. */
  interval: interval.nullable(),
})
export type AuditCorrelation = z.infer<typeof AuditCorrelation>

/** Scores of one node's completions, or of all. */
export const AuditDistribution = z.strictObject({
  n: z.int(),
  mean: z.number(),
  sd: z.number(),
  /** Shares of scores that are exactly 0, 0.5 and 1. */
  atZero: share,
  atHalf: share,
  atOne: share,
  /** Least, lower quartile, median, upper quartile, largest. */
  quantiles: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number()]),
  /** With the judge that grades from targets; null where the audited judge is that one. */
  agreement: AuditCorrelation.nullable(),
})
export type AuditDistribution = z.infer<typeof AuditDistribution>

/** The same questions asked again, nothing cached. */
export const AuditNoise = z.strictObject({
  n: z.int(),
  meanDifference: z.number(),
  largestDifference: z.number(),
  /** Estimated deviation of one score: that of the differences over √2. */
  sd: z.number(),
})
export type AuditNoise = z.infer<typeof AuditNoise>

/** A twin that fooled the judge, with its scores of the first round. */
export const AuditExample = z.strictObject({
  id: z.string(),
  node: NodeId,
  promptId: z.string(),
  variant: z.string(),
  plain: z.string(),
  doctored: z.string(),
  /** Null: this rule needs no plain score. */
  plainScore: z.number().nullable(),
  doctoredScore: z.number(),
  /** By how much the rule was broken, mean of the rounds that confirmed it. */
  excess: z.number(),
})
export type AuditExample = z.infer<typeof AuditExample>

export const AuditSuite = z.strictObject({
  name: z.string(),
  title: z.string(),
  /** What must hold, in words. */
  rule: z.string(),
  twins: z.int(),
  /** Twins whose questions were all answered. */
  answered: z.int(),
  fooled: z.int(),
  /** 90 % Clopper-Pearson interval of the share that is fooled; null when nothing was answered. */
  interval: interval.nullable(),
  /** A finding when the whole interval lies above this share. */
  allowedShare: share,
  finding: z.boolean(),
  nodes: z.partialRecord(NodeId, z.strictObject({ answered: z.int(), fooled: z.int() })),
  examples: z.array(AuditExample),
})
export type AuditSuite = z.infer<typeof AuditSuite>

/** audit.json: what an audit of a judge found. */
export const AuditReport = z.strictObject({
  at: z.iso.datetime(),
  judge: z.string(),
  form: z.enum(['full', 'short']),
  /** Where the completions of the score distribution come from. */
  completionsFrom: z.string(),
  tolerance: z.number(),
  /** Questions that were put to the judge in all rounds. */
  questions: z.int(),
  unanswered: z.int(),
  /** Reasons of the unanswered ones, the most frequent first. */
  reasons: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
  all: AuditDistribution.nullable(),
  nodes: z.partialRecord(NodeId, AuditDistribution),
  /** With the completion's length and with each structural component, by name. */
  correlations: z.record(z.string(), AuditCorrelation),
  noise: AuditNoise.nullable(),
  suites: z.array(AuditSuite),
  findings: z.array(z.string()),
  warnings: z.array(z.string()),
  verdict: z.enum(['pass', 'finding']),
  seconds: z.number(),
})
export type AuditReport = z.infer<typeof AuditReport>
