import { OpenAI, APIError } from 'openai'
import { z } from 'zod'
import { anySignal } from '../../data/any-signal.ts'
import type { Message } from '../../data/records/prompt.ts'
import { CallFailure, readRetryAfter, type FailureKind } from './failure.ts'
import { httpFetch } from './http-fetch.ts'

export interface EndpointOptions {
  readonly baseUrl: string
  readonly model: string
  readonly maxTokens: number
  /** Deadline of one exchange, from sending to the last byte. */
  readonly timeoutMs: number
  readonly apiKey: () => Promise<string>
}

/** One answer of the endpoint, not yet understood. */
export interface Reply {
  readonly text: string
  /** The model that the endpoint says has answered. */
  readonly model: string
  readonly promptTokens: number
  readonly completionTokens: number
}

/** What is needed of an answer; servers add what they like. */
const ChatAnswer = z.object({
  model: z.string(),
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
  usage: z.object({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() }).nullish(),
})
const ModelList = z.object({ data: z.array(z.looseObject({ id: z.string() })) })

/** What tells two models under one name apart, where a server lists it: where the weights come from, and their sizes. */
const identifying = ['root', 'owned_by', 'meta'] as const

/** No time-out of the client's own may come before ours. */
const graceMs = 60_000

const kindOfStatus = (status: number, code: string | null | undefined): FailureKind => {
  // An account without money says 429 too, and no waiting helps it.
  if (status === 429) return code === 'insufficient_quota' ? 'refused' : 'rate_limited'
  return status >= 500 || [408, 409, 425].includes(status) ? 'server_error' : 'refused'
}

/** The message at the bottom of a chain of causes: "connect ECONNREFUSED …" rather than "Connection error." */
const innermost = (error: Error): string => (error.cause instanceof Error ? innermost(error.cause) : error.message)

const classify = (error: unknown, deadline: AbortSignal, timeoutMs: number): CallFailure => {
  if (deadline.aborted) return new CallFailure('timed_out', `no reply within ${timeoutMs / 1000} s`, { cause: error })
  if (error instanceof APIError && typeof error.status === 'number') {
    const retryAfterMs = readRetryAfter(error.headers, Date.now())
    const kind = kindOfStatus(error.status, error.code)
    return new CallFailure(kind, `HTTP ${error.message.slice(0, 300)}`, { retryAfterMs, cause: error })
  }
  if (error instanceof APIError)
    return new CallFailure('connection', innermost(error).slice(0, 300) || 'the connection failed', { cause: error })
  if (error instanceof SyntaxError) return new CallFailure('garbled', 'the reply is not JSON', { cause: error })
  // The client writes an error's body out again, which ends at the stack's depth.
  if (error instanceof RangeError) return new CallFailure('garbled', 'the reply is nested too deep', { cause: error })
  // Anything else is a fault of this program, or a key that cannot be read.
  throw error
}

/** An OpenAI-compatible chat endpoint: one exchange at a time, no retry, every failure a CallFailure of its kind. */
export class Endpoint {
  readonly #options: EndpointOptions
  readonly #client: OpenAI

  constructor(options: EndpointOptions) {
    this.#options = options
    this.#client = new OpenAI({
      baseURL: options.baseUrl,
      apiKey: options.apiKey,
      // Nothing may come from the environment but what the config names.
      ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null },
      maxRetries: 0,
      timeout: options.timeoutMs + graceMs,
      fetch: httpFetch,
      logLevel: 'off',
    })
  }

  /** Asks for one completion at temperature 0. */
  async ask(messages: readonly Message[], signal?: AbortSignal, maxTokens = this.#options.maxTokens): Promise<Reply> {
    const body = { model: this.#options.model, messages: [...messages], temperature: 0, max_tokens: maxTokens }
    const raw = await this.#exchange((options) => this.#client.chat.completions.create(body, options), signal)
    const answer = ChatAnswer.safeParse(raw)
    if (!answer.success) throw new CallFailure('garbled', 'the reply is not a chat completion')
    const { choices, model, usage } = answer.data
    return {
      text: choices[0]?.message.content ?? '',
      model,
      promptTokens: usage?.prompt_tokens ?? 0,
      completionTokens: usage?.completion_tokens ?? 0,
    }
  }

  /** What the server's list of models says about ours; null where there is no such list or no such entry. */
  async describeModel(signal?: AbortSignal): Promise<string | null> {
    const raw = await this.#exchange((options) => this.#client.get('/models', options), signal).catch(
      (error: unknown) => {
        if (error instanceof CallFailure && error.kind === 'refused') return null
        throw error
      },
    )
    const own = ModelList.safeParse(raw).data?.data.find(({ id }) => id === this.#options.model)
    return own === undefined ? null : JSON.stringify(identifying.map((key) => own[key] ?? null))
  }

  async #exchange(
    send: (options: { signal: AbortSignal }) => Promise<unknown>,
    signal?: AbortSignal,
  ): Promise<unknown> {
    signal?.throwIfAborted()
    const deadline = AbortSignal.timeout(this.#options.timeoutMs)
    const either = anySignal([deadline, signal])
    try {
      return await send({ signal: either.signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw classify(error, deadline, this.#options.timeoutMs)
    } finally {
      either.release()
    }
  }
}
