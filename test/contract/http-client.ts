import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'

/** What the contract looks at in an answer. */
export interface Reply {
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

export interface Choice {
  readonly index: number
  readonly text: string
  readonly token_ids: number[]
  readonly prompt_token_ids: number[]
  readonly finish_reason: string
  readonly stop_reason: number | null
  readonly logprobs: {
    token_logprobs: number[]
    tokens: string[]
    text_offset: number[]
    top_logprobs: Record<string, number>[]
  } | null
  readonly prompt_logprobs: (Record<string, { logprob: number }> | null)[] | null
}

export interface Completions {
  readonly id: string
  readonly model: string
  readonly choices: Choice[]
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

export interface ErrorBody {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: number
}

/** Plain HTTP to a sampler; nothing is retried and no status is an exception. */
export class HttpClient {
  readonly #url: string
  readonly #headers: Record<string, string>

  constructor(url: string, token: string | undefined) {
    this.#url = url.replace(/\/$/, '')
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  async get(path: string): Promise<Reply> {
    return await this.#send(path, { headers: this.#headers })
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const all = { 'content-type': 'application/json', ...this.#headers, ...headers }
    return await this.#send(path, {
      method: 'POST',
      headers: all,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  /** POST whose whole request has left for the server when this resolves; the answer is waited for apart. */
  async postSent(path: string, body: unknown): Promise<{ readonly reply: Promise<Reply> }> {
    const headers = { 'content-type': 'application/json', ...this.#headers }
    const outgoing = httpRequest(`${this.#url}${path}`, { method: 'POST', headers, agent: false })
    const reply = new Promise<Reply>((resolve, reject) => {
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        readText(incoming).then(
          (answer) =>
            resolve({
              status: incoming.statusCode ?? 0,
              contentType: incoming.headers['content-type'] ?? null,
              text: answer,
            }),
          reject,
        )
      })
    })
    // Reported where the answer is waited for.
    reply.catch(() => undefined)
    const sent = once(outgoing, 'finish')
    outgoing.end(JSON.stringify(body))
    await sent
    return { reply }
  }

  async #send(path: string, init: RequestInit): Promise<Reply> {
    const response = await fetch(`${this.#url}${path}`, init)
    return { status: response.status, contentType: response.headers.get('content-type'), text: await response.text() }
  }
}

/** The error of a refusal; fails when the answer has another shape. */
export const errorOf = (reply: Reply): ErrorBody => {
  const { error } = JSON.parse(reply.text) as { error: ErrorBody }
  if (error.code !== reply.status) throw new Error(`code ${error.code} in an answer with status ${reply.status}`)
  return error
}
