import { z } from 'zod'
import { GroupAdvantages } from './advantage.ts'
import { NodeId } from './node.ts'
import { Score, Verdict } from './reward.ts'
import { Completion, RolloutGroup } from './rollout.ts'

/** status.json: where a run is now. Rewritten as a whole. */
export const RunStatus = z.strictObject({
  state: z.enum(['starting', 'running', 'paused', 'evaluating', 'finished', 'stopped', 'aborted', 'failed']),
  /** Steps that are complete, and how many are asked for. */
  step: z.int().min(0),
  steps: z.int().min(1),
  policyVersion: z.int().min(0),
  /** Directory of that version's adapter, relative to the run; null at version 0. */
  adapter: z.string().nullable(),
  attempt: z.int().min(1),
  pid: z.int(),
  updatedAt: z.iso.datetime(),
  /** Why it ended, where it did not simply finish; or what it waits for. */
  message: z.string().nullable(),
  /** Written anew every few seconds by the process that trains; absent where none of this version did. */
  heartbeat: z
    .strictObject({
      at: z.iso.datetime(),
      /** With the pid it names one process for good. */
      startedAt: z.string(),
      host: z.string(),
      /** What it is at, and since when. */
      phase: z.string(),
      since: z.iso.datetime(),
    })
    .optional(),
})
export type RunStatus = z.infer<typeof RunStatus>

/** meta.json: what a run was made from. Written once; a resume must match it. */
export const RunMeta = z.strictObject({
  id: z.string(),
  createdAt: z.iso.datetime(),
  seed: z.int(),
  versions: z.record(z.string(), z.string()),
  model: z.strictObject({
    path: z.string(),
    hash: z.string(),
    architecture: z.string(),
    parameters: z.int(),
    dtype: z.string(),
    device: z.string(),
  }),
  pool: z.strictObject({
    hash: z.string(),
    train: z.int(),
    heldout: z.int(),
    refused: z.array(z.strictObject({ id: z.string(), node: NodeId, tokens: z.int() })),
  }),
  judge: z.string(),
  /** Largest possible R under the run's reward config. */
  rewardMaximum: z.number(),
})
export type RunMeta = z.infer<typeof RunMeta>

/** One line of attempts.jsonl: one start of the run. A later attempt's lines win from its first step on. */
export const RunAttempt = z.strictObject({
  attempt: z.int().min(1),
  at: z.iso.datetime(),
  fromStep: z.int().min(0),
  fromVersion: z.int().min(0),
  pid: z.int(),
  host: z.string(),
  worker: z.record(z.string(), z.union([z.string(), z.number()])),
})
export type RunAttempt = z.infer<typeof RunAttempt>

/** One line of events.jsonl: something that a person may want to know about later. */
export const RunEvent = z.strictObject({
  at: z.iso.datetime(),
  attempt: z.int().min(1),
  step: z.int().min(0).nullable(),
  kind: z.enum([
    'started',
    'resumed',
    'checkpoint',
    'warning',
    'paused',
    'continued',
    'evaluation',
    'stopped',
    'failed',
    'finished',
  ]),
  message: z.string(),
})
export type RunEvent = z.infer<typeof RunEvent>

/** One line of rollouts/step-NNNNNN.jsonl: a group with everything that was concluded from it. */
export const RolloutRecord = z.strictObject({
  attempt: z.int().min(1),
  group: RolloutGroup,
  /** By completion index; null: not asked, or no answer (the score says why). */
  verdicts: z.array(Verdict.nullable()),
  scores: z.array(Score),
  advantages: GroupAdvantages,
})
export type RolloutRecord = z.infer<typeof RolloutRecord>

/** One line of eval/<name>/base.jsonl or trained.jsonl. */
export const EvaluationSample = z.strictObject({
  promptId: z.string(),
  node: NodeId,
  policyName: z.string(),
  seed: z.int(),
  completion: Completion,
  score: Score,
  verdict: Verdict.nullable(),
  /** Equal to the target; null without one. */
  exactlyRight: z.boolean().nullable(),
  /** Kind of the target, as `drifted` at n1; null without a target. */
  targetClass: z.string().nullable(),
  /** What no reward decides, by name; a measure that does not apply is absent. */
  measures: z.record(z.string(), z.number()),
})
export type EvaluationSample = z.infer<typeof EvaluationSample>

/** Means over one model's samples (all, or of one node). Null: nothing to take a mean of. */
export const EvaluationScores = z.strictObject({
  prompts: z.int(),
  samples: z.int(),
  unscored: z.int(),
  reward: z.number().nullable(),
  /** Raw judge component: where the reward profile forbids to ask, it is 0. */
  judge: z.number().nullable(),
  components: z.record(z.string(), z.number()),
  exactlyRight: z.number().nullable(),
  truncated: z.number().nullable(),
  meanTokens: z.number().nullable(),
})
export type EvaluationScores = z.infer<typeof EvaluationScores>

export const EvaluationRow = z.strictObject({
  base: EvaluationScores,
  trained: EvaluationScores,
  /** Prompts whose mean reward over samples rose, stayed, fell; and the share that rose. */
  improved: z.int(),
  equal: z.int(),
  worse: z.int(),
  improvedShare: z.number().nullable(),
})
export type EvaluationRow = z.infer<typeof EvaluationRow>

/** eval/<name>/summary.json: base against trained on the same prompts under the same decoding. */
export const EvaluationSummary = z.strictObject({
  name: z.string(),
  at: z.iso.datetime(),
  baseName: z.string(),
  trainedName: z.string(),
  policyVersion: z.int(),
  /** Optimizer steps that the trained policy had behind it. */
  step: z.int().min(0),
  /** Where the trained policy's weights are, relative to the run, and what they are; null at version 0. */
  adapter: z.strictObject({ directory: z.string(), sha256: z.string() }).nullable(),
  decoding: z.strictObject({ samples: z.int(), temperature: z.number(), maxTokens: z.int(), seed: z.int() }),
  promptSetHash: z.string(),
  targetSetHash: z.string(),
  /** Name of the judge; a judge that is a model has the version of its rubrics in it. */
  judge: z.string(),
  rewards: z.strictObject({
    profile: z.string(),
    /** Identity of profile, maxima and caps. */
    hash: z.string(),
    /** Largest contribution of each component that counts. */
    maxima: z.record(z.string(), z.number()),
  }),
  rewardMaximum: z.number(),
  all: EvaluationRow,
  nodes: z.partialRecord(NodeId, EvaluationRow),
  seconds: z.number(),
})
export type EvaluationSummary = z.infer<typeof EvaluationSummary>
