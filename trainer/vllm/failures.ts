import { PipelineError } from '../../data/errors.ts'
import { isRetryableStatus, readError, type HttpReply } from '../http.ts'

/** The server cannot be reached, or says itself that it is at its end: another one, or this one later, may answer. */
export class ServerLost extends PipelineError {
  constructor(message: string, cause?: unknown) {
    super('sampler', message, {
      retryable: true,
      cause,
      remedy: 'See the log of the server; when it answers again, resume the run.',
    })
  }
}

/** The server knows no model or adapter of that name. */
export class MissingPolicy extends PipelineError {
  readonly policy: string

  constructor(policy: string, message: string) {
    super('sampler', message)
    this.policy = policy
  }
}

/** A proxy whose server is away, or an engine whose core has ended: its process follows within seconds. */
const isLoss = (status: number, message: string): boolean =>
  status === 502 || status === 503 || (status === 500 && /EngineCore encountered an issue|EngineDead/.test(message))

interface Sign {
  readonly sign: RegExp
  readonly remedy: string
}

/** What a refusal says about how the server was started. */
const signs: readonly Sign[] = [
  {
    sign: /greater than max_lora_rank/,
    remedy: 'Start vLLM with --max-lora-rank of at least lora.rank (allowed: 8, 16, 32, 64, 128, 256, 320, 512).',
  },
  { sign: /LoRA is not enabled/, remedy: 'Start vLLM with --enable-lora.' },
  {
    sign: /No adapter found for/,
    remedy: 'The server must see the run directory under the same path: same machine, or a mount at that path.',
  },
  {
    sign: /maximum context length/,
    remedy: 'Start vLLM with --max-model-len of at least model.maxPromptTokens + model.maxCompletionTokens.',
  },
]

/**
 * A refusal as an error of the sampler, with what to do about it where the refusal tells.
 * @param what what was being done, for the message
 * @param policy the model that the request named; empty where it named none
 */
export const failureOf = (what: string, policy: string, reply: HttpReply): PipelineError => {
  const { message } = readError(reply)
  const text = `${what} failed with status ${reply.status}: ${message}`
  if (reply.status === 404 && / does not exist| cannot be found/.test(message)) return new MissingPolicy(policy, text)
  if (isLoss(reply.status, message)) return new ServerLost(text)
  if (reply.status === 404 && message === 'Not Found') {
    return new PipelineError('sampler', text, {
      remedy: 'Start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora.',
    })
  }
  if (reply.status === 401) {
    return new PipelineError('sampler', text, {
      remedy: 'Give the API key through the variable named in sampling.server.tokenEnv.',
    })
  }
  const remedy = signs.find(({ sign }) => sign.test(message))?.remedy
  return new PipelineError('sampler', text, {
    retryable: isRetryableStatus(reply.status),
    ...(remedy === undefined ? {} : { remedy }),
  })
}
