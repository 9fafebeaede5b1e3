import { z } from 'zod'

/** Settings of the adapter and its optimizer: fixed for a run, sent once. */
export const SessionRequest = z.strictObject({
  runId: z.string().min(1),
  seed: z.int().min(0),
  lora: z.strictObject({
    rank: z.int().min(1),
    alpha: z.number().positive(),
    dropout: z.literal(0),
    /** Module names, or all-linear: every linear layer except the head. */
    targetModules: z.union([z.literal('all-linear'), z.array(z.string()).min(1)]),
  }),
  optimizer: z.strictObject({
    learningRate: z.number().positive(),
    betas: z.tuple([z.number(), z.number()]),
    epsilon: z.number().positive(),
    weightDecay: z.number().min(0),
    /** Steps of linear warm-up: step k of 0… uses learningRate · min(1, (k + 1) / warmupSteps). */
    warmupSteps: z.int().min(0),
    /** Steps after the warm-up in which the rate falls linearly, to learningRate / decaySteps; 0: it stays. */
    decaySteps: z.int().min(0),
    maxGradNorm: z.number().positive(),
  }),
})
export type SessionRequest = z.infer<typeof SessionRequest>

/** How the worker turns advantages into a loss. It knows nothing of rewards or nodes. */
export const LossConfig = z.strictObject({
  beta: z.number().min(0),
  clipLow: z.number().positive(),
  clipHigh: z.number().positive(),
  kl: z.enum(['k3', 'k2', 'ratio_k3']),
  normalization: z.enum(['sequence_mean', 'token_mean', 'fixed_length']),
  /** Divisor of fixed_length, in tokens; ignored by the others. */
  fixedLength: z.int().min(1),
  /** Truncated importance weights against the sampler's log-probs; null: measure only. */
  importanceBounds: z.tuple([z.number().positive(), z.number().positive()]).nullable(),
})
export type LossConfig = z.infer<typeof LossConfig>

export const UpdateCompletion = z.strictObject({
  tokenIds: z.array(z.int()).min(1),
  advantage: z.number(),
  samplerLogprobs: z.array(z.number()),
})

/** One optimizer step. Groups keep their shared prompt once. */
export const UpdateBatch = z.strictObject({
  runId: z.string().min(1),
  step: z.int().min(0),
  fromVersion: z.int().min(0),
  /** Rows of a micro-batch are packed up to this many tokens. The result does not depend on it. */
  tokenBudget: z.int().min(1),
  loss: LossConfig,
  groups: z
    .array(z.strictObject({ promptTokenIds: z.array(z.int()).min(1), completions: z.array(UpdateCompletion).min(1) }))
    .min(1),
})
export type UpdateBatch = z.infer<typeof UpdateBatch>

/** What one optimizer step did. */
export const UpdateResult = z.strictObject({
  runId: z.string(),
  step: z.int().min(0),
  fromVersion: z.int().min(0),
  version: z.int().min(1),
  payloadHash: z.string(),
  loss: z.number(),
  /** Mean KL to the reference by the configured estimator, nats a token. */
  kl: z.number(),
  /** Mean entropy of the policy at the sampled positions, nats. */
  entropy: z.number(),
  /** Gradient norm before clipping. */
  gradNorm: z.number(),
  clipRatio: z.strictObject({ low: z.number(), high: z.number(), region: z.number() }),
  learningRate: z.number(),
  /** Sampler against worker at the version sampled from. */
  mismatch: z.strictObject({ meanAbs: z.number(), maxAbs: z.number(), outsideShare: z.number(), k3: z.number() }),
  tokens: z.strictObject({ prompt: z.int(), completion: z.int() }),
  seconds: z.number(),
  peakRssBytes: z.int(),
})
export type UpdateResult = z.infer<typeof UpdateResult>
