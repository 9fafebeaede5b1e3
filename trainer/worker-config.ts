import { z } from 'zod'
import { seconds } from '../data/duration.ts'

/** The Python process that owns the model: started here, or already running somewhere. */
export const WorkerSection = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('spawn').optional().default('spawn'),
      python: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe('Interpreter; null: the one that set-up made (.venv).'),
      threads: z
        .union([z.literal('auto'), z.int().min(1)])
        .default('auto')
        .describe('OpenMP threads.'),
      dtype: z
        .enum(['auto', 'float32', 'bfloat16'])
        .default('auto')
        .describe('auto: bfloat16 on a GPU, float32 on a CPU.'),
      ranks: z
        .int()
        .min(1)
        .default(1)
        .describe('Processes that share each update, started by torchrun; on GPUs one a GPU.'),
      device: z.enum(['auto', 'cpu', 'cuda']).default('auto').describe('auto: a CUDA GPU where there is one.'),
      memoryFraction: z
        .number()
        .positive()
        .max(1)
        .default(0.35)
        .describe('Share of GPU memory that the worker may use.'),
      tokenBudget: z.int().min(1).default(4096).describe('Tokens of one packed micro-batch; speed and memory only.'),
      startTimeoutSeconds: seconds.default(600).describe('How long loading the model may take.'),
      requestTimeoutSeconds: seconds.default(1800).describe('Deadline of one update.'),
    }),
    z.strictObject({
      kind: z.literal('attach'),
      url: z.url().describe('Address of a running worker that sees the run directory.'),
      tokenEnv: z.string().min(1).default('DRIFT_GRPO_TOKEN').describe('Environment variable that holds its token.'),
      tokenBudget: z.int().min(1).default(4096).describe('Tokens of one packed micro-batch; speed and memory only.'),
      requestTimeoutSeconds: seconds.default(1800).describe('Deadline of one update.'),
    }),
  ])
  .prefault({})
export type WorkerSection = z.infer<typeof WorkerSection>
export type SpawnedWorker = Extract<WorkerSection, { kind: 'spawn' }>
