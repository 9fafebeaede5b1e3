import { z } from 'zod'
import { seconds } from '../data/duration.ts'
import { canBeStartedAt, JudgeServer } from './server-config.ts'

/** Where verdicts are kept, so that an equal question is paid for once. */
const CacheSection = z
  .strictObject({
    dir: z
      .string()
      .min(1)
      .nullable()
      .default('.cache/judge')
      .describe(
        'Directory of the verdicts, from the working directory, on a local disk; runs and processes may share it. null: memory only.',
      ),
    memoryEntries: z.int().min(1).default(20_000).describe('Verdicts held in memory, the latest used ones.'),
  })
  .prefault({})

/** When an endpoint that does not answer is left alone. */
const BreakerSection = z
  .strictObject({
    failures: z
      .int()
      .min(1)
      .default(5)
      .describe('So many requests in a row without an answer, from the whole run, and the endpoint counts as down.'),
    pauseSeconds: seconds
      .default(15)
      .describe('While it is down, one tiny request after each such pause asks whether it is back.'),
  })
  .prefault({})

const LlmJudge = z
  .strictObject({
    kind: z.literal('llm'),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .describe('Address of an OpenAI-compatible API, usually ending in /v1, as in http://127.0.0.1:8001/v1.'),
    model: z.string().min(1).describe('Name of the model, as the endpoint knows it.'),
    apiKeyEnv: z.string().min(1).nullable().default(null).describe('Environment variable that holds the API key.'),
    apiKeyFile: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe('File that holds the API key, from the working directory; read anew for each request.'),
    temperature: z
      .literal(0, 'must be 0: a reward must not depend on a draw')
      .default(0)
      .describe('Always 0: a reward must not depend on a draw.'),
    maxTokens: z
      .int()
      .min(16)
      .default(2048)
      .describe('Most tokens of a reply, thinking included; a reply that is cut there is no verdict.'),
    concurrency: z.int().min(1).default(16).describe('Requests to the endpoint at a time.'),
    timeoutSeconds: seconds.default(300).describe('Deadline of one request, from sending to last byte.'),
    retries: z.int().min(0).max(20).default(3).describe('Further tries after a failure that another try may mend.'),
    breaker: BreakerSection.describe('When an endpoint that does not answer is left alone.'),
    cache: CacheSection.describe('Where verdicts are kept, so that an equal question is paid for once.'),
    onOutage: z
      .enum(['pause', 'skip'])
      .default('pause')
      .describe('While the endpoint is down: wait for it, or leave completions unscored and go on.'),
    maxUnscored: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe(
        'Largest share of a step’s questions that may stay without a verdict; above it the run stops. One alone never stops it.',
      ),
    server: JudgeServer.nullable()
      .default(null)
      .describe('A vLLM that is started at baseUrl for the run; null: the endpoint runs already.'),
    audit: z
      .enum(['require', 'warn', 'off'])
      .default('require')
      .describe(
        'Twin tests before a new run: refuse a judge that fails them, only warn, or leave them out (drift-grpo audit runs them too).',
      ),
  })
  .refine(({ apiKeyEnv, apiKeyFile }) => apiKeyEnv === null || apiKeyFile === null, {
    path: ['apiKeyFile'],
    error: 'give apiKeyEnv or apiKeyFile, not both',
  })
  .refine(({ server, baseUrl }) => server === null || canBeStartedAt(baseUrl), {
    path: ['baseUrl'],
    error: 'must be http://127.0.0.1:PORT/v1 when judge.server starts an engine there',
  })
export type LlmJudgeConfig = z.infer<typeof LlmJudge>

/**
 * Config section `judge`. `llm` asks a language model; `reference` grades against the pool's targets and asks no model;
 * with `none` the judge component does not exist and the largest R is smaller by its maximum.
 */
export const JudgeConfig = z
  .discriminatedUnion('kind', [
    LlmJudge,
    z.strictObject({ kind: z.literal('reference') }),
    z.strictObject({ kind: z.literal('none') }),
  ])
  .default({ kind: 'reference' })
export type JudgeConfig = z.infer<typeof JudgeConfig>
