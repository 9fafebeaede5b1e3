import { z } from 'zod'
import { PipelineError } from '../data/errors.ts'
import { FinishReason, type Completion } from '../data/records/rollout.ts'
import { withRetry } from './backoff.ts'
import { exchange, isRetryableStatus, isTransient, readError, succeeded, untilKnown, type HttpReply } from './http.ts'
import type { AdapterRef, ReloadCheck, SampleRequest, Sampler } from './sampler.ts'

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

/** Sampler over vLLM's HTTP routes: a vLLM server, or the worker's embedded subset of the same routes. */
export class VllmSampler implements Sampler {
  readonly baseName: string
  readonly #options: VllmSamplerOptions
  /** Adapters that this client loaded, to load them again after the server was restarted. */
  readonly #loaded = new Map<string, AdapterRef>()
  /** Adapters that are being loaded again and proved, each once however many requests have missed it. */
  readonly #reloading = new Map<string, Promise<void>>()
  #checkReloaded: ReloadCheck | undefined

  constructor(options: VllmSamplerOptions) {
    this.#options = options
    this.baseName = options.baseName
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
    const { choices } = this.#read(Completions, await this.#sampleFrom(request.policy, body, what, signal), what)
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
    const { choices } = this.#read(PromptLogprobs, await this.#post('/v1/completions', body, what, signal), what)
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
    this.#loaded.set(policy, adapter)
  }

  async unload(policy: string, signal?: AbortSignal): Promise<void> {
    this.#loaded.delete(policy)
    this.#reloading.delete(policy)
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

  onReload(check: ReloadCheck): void {
    this.#checkReloaded = check
  }

  /** When a restarted server has forgotten an adapter: loads it again, has it proved, and asks once more. */
  async #sampleFrom(policy: string, body: unknown, what: string, signal: AbortSignal | undefined): Promise<HttpReply> {
    try {
      const reply = await this.#post('/v1/completions', body, what, signal)
      // Another request may have brought the adapter back meanwhile: then this answer came from what is not proved yet.
      await this.#reloading.get(policy)
      return reply
    } catch (error) {
      const adapter = this.#loaded.get(policy)
      if (!(error instanceof MissingPolicy) || adapter === undefined) throw error
      await this.#reloadOnce(policy, adapter, signal)
      return await this.#post('/v1/completions', body, what, signal)
    }
  }

  #reloadOnce(policy: string, adapter: AdapterRef, signal: AbortSignal | undefined): Promise<void> {
    const before = this.#reloading.get(policy)
    if (before !== undefined) return before
    const reloading = this.load(policy, adapter, signal)
      .then(() => this.#checkReloaded?.(policy, signal))
      // One that failed stays: who asks later must not sample from what could not be proved.
      .then(() => void this.#reloading.delete(policy))
    reloading.catch(() => undefined)
    this.#reloading.set(policy, reloading)
    return reloading
  }

  #post(route: string, body: unknown, what: string, signal: AbortSignal | undefined): Promise<HttpReply> {
    return this.#call({ method: 'POST', route, body, signal, what })
  }

  #call(call: Call): Promise<HttpReply> {
    return withRetry(() => this.#once(call), { tries: this.#options.tries ?? 3, signal: call.signal })
  }

  async #once(call: Call): Promise<HttpReply> {
    const { url, token, gone } = this.#options
    const sampling = call.route === '/v1/completions'
    const timeoutMs = sampling ? this.#options.requestTimeoutMs : (this.#options.controlTimeoutMs ?? 60_000)
    const signals = [gone, call.signal].filter((signal) => signal !== undefined)
    let reply: HttpReply
    try {
      const signal = signals.length === 0 ? undefined : AbortSignal.any(signals)
      reply = await exchange({
        method: call.method,
        url: `${url.replace(/\/$/, '')}${call.route}`,
        body: call.body,
        token,
        timeoutMs,
        signal,
      })
    } catch (error) {
      await untilKnown(gone, error)
      if (gone?.aborted === true) throw gone.reason
      if (call.signal?.aborted === true) throw error
      const late = error instanceof Error && error.name === 'TimeoutError'
      const text = late ? `no answer within ${timeoutMs / 1000} s` : (error as Error).message
      throw new PipelineError('sampler', `${call.what} failed: ${text}`, {
        retryable: isTransient(error),
        cause: error,
      })
    }
    if (!succeeded(reply)) throw failure(call.what, reply)
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

/** The server knows no model or adapter of that name. */
class MissingPolicy extends PipelineError {}

const failure = (what: string, reply: HttpReply): PipelineError => {
  const { message } = readError(reply)
  const text = `${what} failed with status ${reply.status}: ${message}`
  if (reply.status === 404 && / does not exist| cannot be found/.test(message))
    return new MissingPolicy('sampler', text)
  if (reply.status === 404 && message === 'Not Found') {
    return new PipelineError('sampler', text, {
      remedy: 'Start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora.',
    })
  }
  if (reply.status === 401)
    return new PipelineError('sampler', text, {
      remedy: 'Give the API key through the variable named in sampling.server.tokenEnv.',
    })
  return new PipelineError('sampler', text, { retryable: isRetryableStatus(reply.status) })
}
