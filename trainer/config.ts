import { z } from 'zod'
import { seconds } from '../data/duration.ts'
import { bestMetrics } from './evaluation/best.ts'
import { ExportsSection } from './exports/config.ts'
import { GpuSection } from './memory/config.ts'
import { SpawnedSampler } from './vllm/config.ts'
import { WorkerSection } from './worker-config.ts'

/** Where runs live, and how long this one is. */
export const RunSection = z
  .strictObject({
    dir: z.string().min(1).default('runs').describe('Directory that holds one folder per run.'),
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,79}$/i, 'letters, digits, dot, underscore and hyphen only')
      .nullable()
      .default(null)
      .describe('Name of the run; null: made from the config name and the date.'),
    seed: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .default(0)
      .describe('Everything random derives from this number.'),
    steps: z.int().min(1).default(100).describe('Optimizer steps.'),
    checkpointEvery: z
      .int()
      .min(1)
      .default(20)
      .describe('A checkpoint after so many steps; one is always made at the end.'),
    keepCheckpoints: z.int().min(1).default(2).describe('How many checkpoints are kept; older ones are removed.'),
    keepSteps: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'How many steps keep their rollouts and updates; older ones go with each checkpoint. null: all of them.',
      ),
  })
  .prefault({})
export type RunSection = z.infer<typeof RunSection>

/** The base model and its two length limits, in tokens. */
export const ModelSection = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe('Hugging Face causal LM: a directory (from the working directory, then from the package) or a hub name.'),
  revision: z
    .string()
    .min(1)
    .default('main')
    .describe('Branch, tag or commit of a hub model. A commit gives the same weights for ever.'),
  maxPromptTokens: z.int().min(1).default(1600).describe('A longer prompt is refused, never cut.'),
  maxCompletionTokens: z
    .int()
    .min(1)
    .default(700)
    .describe('Sampling stops here; such a completion counts as clipped.'),
})
export type ModelSection = z.infer<typeof ModelSection>

/** How prompts are worded. */
export const PromptsSection = z
  .strictObject({
    examples: z
      .union([z.literal(0), z.literal(1)])
      .default(0)
      .describe('Worked examples in each prompt.'),
  })
  .prefault({})
export type PromptsSection = z.infer<typeof PromptsSection>

const SamplerServer = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('embedded').optional().default('embedded') }),
    z.strictObject({
      kind: z.literal('vllm'),
      url: z
        .union([
          z.url(),
          z
            .array(z.url())
            .min(1)
            .refine((urls) => new Set(urls).size === urls.length, 'names an address twice'),
        ])
        .describe(
          'Address of a running vLLM that allows run-time LoRA and sees the run directory; several addresses share the requests.',
        ),
      tokenEnv: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe('Environment variable that holds its API key; one for all addresses.'),
      model: z.string().min(1).default('base').describe('Served name of the base model.'),
    }),
    SpawnedSampler,
  ])
  .prefault({})

/** A vLLM that runs already, or several. */
export type AttachedSampler = Extract<z.infer<typeof SamplerServer>, { kind: 'vllm' }>

/** The addresses of a sampler that runs already. */
export const samplerUrls = ({ url }: Pick<AttachedSampler, 'url'>): string[] => (typeof url === 'string' ? [url] : url)

/** What one step samples, and from which server. */
export const SamplingSection = z
  .strictObject({
    groupSize: z.int().min(2).max(256).default(4).describe('Completions of one prompt (G).'),
    promptsPerStep: z.int().min(1).default(8).describe('Prompts of one step (P).'),
    temperature: z
      .literal(1, 'must be 1: the update compares with log-probs of the untempered distribution')
      .default(1)
      .describe('Always 1: any other value would train a different distribution than the one sampled.'),
    concurrency: z.int().min(1).default(8).describe('Requests to the sampler at a time.'),
    requestTimeoutSeconds: seconds.default(900).describe('Deadline of one sampling request.'),
    mismatchLimit: z
      .number()
      .positive()
      .default(0.1)
      .describe('Stop when sampler and worker log-probs differ by more than this on average, in nats a token.'),
    server: SamplerServer.describe(
      'Who samples: the worker itself (embedded), a vLLM that runs already (vllm), or one that is started here (spawn).',
    ),
  })
  .prefault({})
export type SamplingSection = z.infer<typeof SamplingSection>

/** The loop stops when a worker reports a clipped ratio all the same. */
const neverClips = 'Without effect as long as each batch makes one update: the ratio is then exactly 1.'

/** Advantage and loss. */
export const GrpoSection = z
  .strictObject({
    beta: z.number().min(0).default(0.04).describe('Weight of the KL to the base model.'),
    clipLow: z.number().positive().lt(1).default(0.2).describe(`The ratio is clipped below 1 - clipLow. ${neverClips}`),
    clipHigh: z.number().positive().default(0.2).describe(`The ratio is clipped above 1 + clipHigh. ${neverClips}`),
    kl: z.enum(['k3', 'k2', 'ratio_k3']).default('k3').describe('KL estimator.'),
    normalization: z
      .enum(['sequence_mean', 'token_mean', 'fixed_length'])
      .default('sequence_mean')
      .describe('Mean over completions of their token means, mean over all tokens, or a fixed divisor.'),
    fixedLength: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe('Divisor of fixed_length in tokens; null: model.maxCompletionTokens.'),
    scale: z
      .enum(['group', 'batch', 'none'])
      .default('group')
      .describe('Divide advantages by the deviation of the group, of the batch, or by nothing.'),
    stdFloor: z.number().min(0).default(0).describe('Smallest deviation that is divided by, in reward units.'),
    perComponent: z
      .boolean()
      .default(false)
      .describe('Normalise each reward component by itself, then sum and whiten.'),
    importanceBounds: z
      .tuple([z.number().positive(), z.number().positive()])
      .nullable()
      .default(null)
      .describe('Bounds of the per-token weights worker/sampler; null: the mismatch is only measured.'),
  })
  .prefault({})
  .refine((grpo) => grpo.importanceBounds === null || grpo.importanceBounds[0] <= grpo.importanceBounds[1], {
    path: ['importanceBounds'],
    error: 'the lower bound is above the upper one',
  })
  .refine((grpo) => !grpo.perComponent || grpo.scale === 'group', {
    path: ['scale'],
    error: 'must be group when perComponent is true: that option scales by itself',
  })
export type GrpoSection = z.infer<typeof GrpoSection>

/** Shape of the adapter. */
export const LoraSection = z
  .strictObject({
    rank: z.int().min(1).max(512).default(128).describe('Rank of every adapter matrix.'),
    alpha: z.number().positive().default(256).describe('The adapter is scaled by alpha / rank.'),
    targetModules: z
      .union([z.literal('all-linear'), z.array(z.string().min(1)).min(1)])
      .default('all-linear')
      .describe('Module names, or all-linear: every linear layer except the head.'),
  })
  .prefault({})
export type LoraSection = z.infer<typeof LoraSection>

const decay = z.number().min(0).lt(1)

/** AdamW with a linear warm-up. */
export const OptimizerSection = z
  .strictObject({
    learningRate: z.number().positive().default(5e-6).describe('Rate after the warm-up.'),
    betas: z.tuple([decay, decay]).default([0.9, 0.999]).describe('Decay of the two moments.'),
    epsilon: z.number().positive().default(1e-8).describe('Added to the root of the second moment.'),
    weightDecay: z.number().min(0).default(0).describe('Decoupled weight decay.'),
    warmupFraction: z.number().min(0).max(1).default(0.1).describe('Share of run.steps in which the rate rises.'),
    schedule: z
      .enum(['constant', 'linear'])
      .default('constant')
      .describe('After the warm-up the rate stays, or falls linearly over the rest of run.steps.'),
    maxGradNorm: z.number().positive().default(1).describe('Gradients are scaled down to this norm.'),
  })
  .prefault({})
export type OptimizerSection = z.infer<typeof OptimizerSection>

/** The comparison of base and trained model on held-out prompts. */
export const EvaluationSection = z
  .strictObject({
    prompts: z.int().min(1).default(100).describe('Held-out prompts.'),
    samples: z.int().min(1).max(256).default(4).describe('Completions of each prompt, from each of the two models.'),
    atEnd: z.boolean().default(true).describe('Compare when training has finished.'),
    every: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe('Also compare after so many steps, on fewer prompts, and keep the best checkpoint; null: never.'),
    everyPrompts: z.int().min(1).default(25).describe('Held-out prompts of those; always the same ones.'),
    everySamples: z.int().min(1).max(256).default(2).describe('Completions of each of them.'),
    bestBy: z
      .enum(bestMetrics)
      .default('exactly_right')
      .describe('What the best checkpoint is chosen by. Judge and reward are what training itself pushes up.'),
  })
  .prefault({})
export type EvaluationSection = z.infer<typeof EvaluationSection>

/** All sections that this folder owns, by their key in a config file. */
export const trainerSections = {
  run: RunSection,
  model: ModelSection,
  prompts: PromptsSection,
  sampling: SamplingSection,
  grpo: GrpoSection,
  lora: LoraSection,
  optimizer: OptimizerSection,
  worker: WorkerSection,
  gpu: GpuSection,
  evaluation: EvaluationSection,
  exports: ExportsSection,
} as const
export const TrainerConfig = z.strictObject(trainerSections)
export type TrainerConfig = z.infer<typeof TrainerConfig>

/** lr·alpha, which alone fixes the size of the first Adam step of an adapter, and the range that is known to train large models. */
export const learningPressure = (
  config: Pick<TrainerConfig, 'lora' | 'optimizer'>,
): { value: number; low: number; high: number } => ({
  value: config.optimizer.learningRate * config.lora.alpha,
  low: 3e-4,
  high: 5e-3,
})
