import { z } from 'zod'
import { anySignal } from '../data/any-signal.ts'
import { PipelineError } from '../data/errors.ts'
import { FinishReason, type Completion } from '../data/records/rollout.ts'
import { withRetry } from './backoff.ts'
import { exchange, isTransient, succeeded, untilKnown, type HttpReply } from './http.ts'
import type { AdapterRef, SampleRequest, Sampler } from './sampler.ts'
import { failureOf, MissingPolicy, ServerLost } from './vllm/failures.ts'

export interface VllmSamplerOptions {
  /** Address of the server, without /v1. */
  readonly url: string
  readonly token?: string | undefined
  readonly baseName: string
  readonly requestTimeoutMs: number
  /** Other routes answer fast or not at all. */
  readonly controlTimeoutMs?: number
  /** Aborted, with the reason, when the server is known to be gone: calls in flight reject at once. */
  readonly gone?: AbortSignal | undefined
  /** Tries of one call, the first one included, where a failure may pass. */
  readonly tries?: number
  /** Pause before the second try. */
  readonly firstPauseMs?: number
}

const Models = z.object({ data: z.array(z.object({ id: z.string(), root: z.string().nullish() })) })

const Choice = z.object({
  index: z.int(),
  text: z.string(),
  token_ids: z.array(z.int()),
  logprobs: z.object({ token_logprobs: z.array(z.number()) }),
  finish_reason: z.string(),
})
const Completions = z.object({ choices: z.array(Choice) })

const TokenScores = z.array(z.record(z.string(), z.object({ logprob: z.number() })).nullable())
const PromptLogprobs = z.object({ choices: z.array(z.object({ index: z.int(), prompt_logprobs: TokenScores })) })

/** Every field that a model repository's own generation settings could otherwise fill in. */
export const untruncated = {
  top_p: 1,
  top_k: 0,
  min_p: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
} as const

const toCompletion = (choice: z.infer<typeof Choice>): Completion => {
  const { token_ids: tokenIds, logprobs } = choice
  if (tokenIds.length !== logprobs.token_logprobs.length) {
    throw new PipelineError(
      'sampler',
      `a completion came back with ${tokenIds.length} tokens and ${logprobs.token_logprobs.length} log-probs`,
    )
  }
  const known = FinishReason.safeParse(choice.finish_reason)
  return {
    index: choice.index,
    text: choice.text,
    tokenIds,
    logprobs: logprobs.token_logprobs,
    finishReason: known.data ?? 'abort',
  }
}

/** The log-prob of each token but the first: entries are keyed by token id, one for each token of the prompt. */
const readScores = (tokenIds: readonly number[], scores: z.infer<typeof TokenScores>, what: string): number[] =>
  tokenIds.slice(1).map((id, i) => {
    const value = scores[i + 1]?.[String(id)]?.logprob
    if (value === undefined) throw new PipelineError('sampler', `${what}: no log-prob came back for token ${i + 1}`)
    return value
  })

interface Call {
  readonly method: 'GET' | 'POST'
  readonly route: string
  readonly body?: unknown
  readonly signal: AbortSignal | undefined
  /** What is being done, for messages. */
  readonly what: string
}

/** The only route that computes for long. */
const completionsRoute = '/v1/completions'
const Named = z.object({ model: z.string() })
const unanswered = ({ what, route }: Call, timeoutMs: number, error: Error): PipelineError => {
  const late = error.name === 'TimeoutError'
  const message = `${what} failed: ${late ? `no answer within ${timeoutMs / 1000} s` : error.message}`
  if (isTransient(error)) return new ServerLost(message, error)
  const remedy =
    late && route === completionsRoute
      ? 'Raise sampling.requestTimeoutSeconds, or lower sampling.concurrency.'
      : 'See the log of the server.'
  return new PipelineError('sampler', message, { remedy, cause: error })
}

/** The policy that a request names. */
const modelOf = (body: unknown): string => Named.safeParse(body).data?.model ?? ''

/**
 * Client of one server with vLLM's HTTP routes: a vLLM, or the worker's embedded subset of the same routes. Knows nothing of
 * other servers, and what it loaded is gone when its server ends: see supervision/endpoints.ts for more.
 */
export class VllmSampler implements Sampler {
  readonly baseName: string
  readonly #options: VllmSamplerOptions

  constructor(options: VllmSamplerOptions) {
    this.#options = options
    this.baseName = options.baseName
  }

  /** Aborted when the server is known to have ended. */
  get gone(): AbortSignal | undefined {
    return this.#options.gone
  }

  async health(signal?: AbortSignal): Promise<void> {
    await this.#call({ method: 'GET', route: '/health', signal, what: 'the health check' })
  }

  async policies(signal?: AbortSignal): Promise<string[]> {
    return (await this.#cards(signal)).map((card) => card.id)
  }

  async sample(request: SampleRequest, signal?: AbortSignal): Promise<Completion[]> {
    const what = `sampling from ${request.policy}`
    const body = {
      model: request.policy,
      prompt: request.promptTokenIds,
      n: request.count,
      max_tokens: request.maxTokens,
      temperature: request.temperature,
      ...untruncated,
      seed: request.seed,
      logprobs: 0,
      return_token_ids: true,
      skip_special_tokens: false,
      stream: false,
    }
    const { choices } = this.#read(Completions, await this.#post(completionsRoute, body, what, signal), what)
    const completions = choices.map(toCompletion).toSorted((a, b) => a.index - b.index)
    if (completions.length !== request.count || completions.some(({ index }, i) => index !== i)) {
      throw new PipelineError(
        'sampler',
        `${what}: asked for ${request.count} completions, got indices ${completions.map((c) => c.index).join(', ')}`,
      )
    }
    return completions
  }

  async tokenLogprobs(
    policy: string,
    sequences: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<number[][]> {
    const what = `scoring tokens by ${policy}`
    const body = {
      model: policy,
      prompt: sequences,
      n: 1,
      max_tokens: 1,
      temperature: 0,
      ...untruncated,
      prompt_logprobs: 0,
      stream: false,
    }
    const { choices } = this.#read(PromptLogprobs, await this.#post(completionsRoute, body, what, signal), what)
    const inOrder = choices.toSorted((a, b) => a.index - b.index)
    return sequences.map((tokenIds, i) => readScores(tokenIds, inOrder[i]?.prompt_logprobs ?? [], what))
  }

  async load(policy: string, adapter: AdapterRef, signal?: AbortSignal): Promise<void> {
    try {
      await this.#post(
        '/v1/load_lora_adapter',
        { lora_name: policy, lora_path: adapter.location },
        `loading adapter ${policy}`,
        signal,
      )
    } catch (error) {
      // The reply of an earlier try may have been lost: the same name from the same place is what was asked for.
      const cards =
        error instanceof PipelineError && error.message.includes('already been loaded') ? await this.#cards(signal) : []
      if (!cards.some((card) => card.id === policy && card.root === adapter.location)) throw error
    }
  }

  async unload(policy: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#post('/v1/unload_lora_adapter', { lora_name: policy }, `unloading adapter ${policy}`, signal)
    } catch (error) {
      if (!(error instanceof MissingPolicy)) throw error
    }
  }

  async #cards(signal: AbortSignal | undefined): Promise<z.infer<typeof Models>['data']> {
    const reply = await this.#call({ method: 'GET', route: '/v1/models', signal, what: 'listing models' })
    return this.#read(Models, reply, 'listing models').data
  }

  #post(route: string, body: unknown, what: string, signal: AbortSignal | undefined): Promise<HttpReply> {
    return this.#call({ method: 'POST', route, body, signal, what })
  }

  #call(call: Call): Promise<HttpReply> {
    const { tries = 3, firstPauseMs } = this.#options
    return withRetry(() => this.#once(call), { tries, firstPauseMs, signal: call.signal })
  }

  async #once(call: Call): Promise<HttpReply> {
    const { url, token, gone, requestTimeoutMs, controlTimeoutMs } = this.#options
    const timeoutMs = call.route === completionsRoute ? requestTimeoutMs : (controlTimeoutMs ?? 60_000)
    const { signal, release } = anySignal([gone, call.signal])
    const { method, route, body } = call
    let reply: HttpReply
    try {
      reply = await exchange({ method, url: `${url.replace(/\/$/, '')}${route}`, body, token, timeoutMs, signal })
    } catch (error) {
      await untilKnown(gone, error)
      if (gone?.aborted === true) throw gone.reason
      if (call.signal?.aborted === true) throw error
      throw unanswered(call, timeoutMs, error as Error)
    } finally {
      release()
    }
    if (!succeeded(reply)) throw failureOf(call.what, modelOf(body), reply)
    return reply
  }

  #read<T>(schema: z.ZodType<T>, reply: HttpReply, what: string): T {
    let body: unknown
    try {
      body = JSON.parse(reply.text)
    } catch (error) {
      throw new PipelineError('sampler', `${what}: the answer is not JSON: ${reply.text.slice(0, 200)}`, {
        cause: error,
      })
    }
    const result = schema.safeParse(body)
    if (result.success) return result.data
    const remedy = 'The server must return token ids and log-probs of sampled tokens (vLLM 0.15 or newer).'
    throw new PipelineError(
      'sampler',
      `${what}: the answer has another shape than expected:\n${z.prettifyError(result.error)}`,
      { remedy },
    )
  }
}
