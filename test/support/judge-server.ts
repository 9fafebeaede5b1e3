import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

/**
 * What the server does with one question. verdict: answers it. swap: answers with the verdict of an earlier question.
 * other_model: answers under another model's name. half: closes the connection in the middle of the reply. cut: before it.
 * hang: never answers.
 */
export type Behaviour =
  | 'verdict'
  | 'garble'
  | 'swap'
  | 'other_model'
  | 'half'
  | 'cut'
  | 'hang'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly code?: string }

/** One question as the server saw it. */
export interface Asked {
  readonly completion: string
  readonly id: string
  readonly user: string
  readonly body: Readonly<Record<string, unknown>>
  readonly authorization: string | undefined
  /** How often this completion was asked about before. */
  readonly before: number
}

export interface JudgeServerOptions {
  /** Asked about each question; a promise holds the answer back. */
  readonly behave?: (asked: Asked) => Behaviour | Promise<Behaviour>
  /** Asked about each neutral probe. */
  readonly probe?: (number: number) => Behaviour
  /** The entry of the list of models; null: the route is not there. */
  readonly model?: Readonly<Record<string, unknown>> | null
  /** Score of a completion; default: scoreOf. */
  readonly score?: (completion: string) => number
}

const Chat = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})

/** The score that this server gives: the last number of a completion, in hundredths. */
export const scoreOf = (completion: string): number => (Number(/(\d+)\D*$/.exec(completion)?.[1] ?? 0) % 101) / 100

const fenced = (user: string, id: string): string => {
  const opening = `<<<data ${id}\n`
  const start = user.lastIndexOf(opening) + opening.length
  return user.slice(start, user.indexOf(`\n${id} data>>>`, start))
}

const verdictFor = (completion: string, id: string, score = scoreOf): string =>
  `Looking at it.\n<verdict><id>${id}</id><score>${score(completion)}</score><reason>says ${completion.slice(-20)}</reason></verdict>`

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

const chat = (model: string, content: string): string =>
  JSON.stringify({
    ...{ id: 'c', object: 'chat.completion', created: 0, model },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  })

const send = (response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)

/** A judge on loopback that answers, or misbehaves as told. Its score of a completion is known beforehand. */
export class JudgeServer {
  readonly questions: Asked[] = []
  probes = 0
  /** Questions that are being answered now, and the most there were. */
  open = 0
  mostOpen = 0
  readonly #options: JudgeServerOptions
  readonly #counts = new Map<string, number>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #last = verdictFor('completion 0', 'feedfeedfeed')

  private constructor(options: JudgeServerOptions) {
    this.#options = options
  }

  static async start(options: JudgeServerOptions = {}, port = 0): Promise<JudgeServer> {
    const server = new JudgeServer(options)
    server.#server.listen(port, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`
  }
  /** How often a completion was asked about. */
  asked(completion: string): number {
    return this.#counts.get(completion) ?? 0
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1/models') {
      const { model = { id: 'judge', root: 'org/judge-14b', created: Date.now() } } = this.#options
      if (model === null) send(response, 404, '{"error": {"message": "no such route"}}')
      else send(response, 200, JSON.stringify({ object: 'list', data: [model] }))
      return
    }
    const body = Chat.parse(await readBody(request))
    const user = body.messages.at(-1)?.content ?? ''
    if (body.messages.length === 1) {
      this.probes += 1
      this.#act(this.#options.probe?.(this.probes) ?? 'verdict', response, body.model, 'OK')
      return
    }
    await this.#question(body, user, request.headers.authorization, response)
  }

  async #question(
    body: Asked['body'] & { readonly model: string },
    user: string,
    authorization: string | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const id = /<id>([0-9a-f]+)<\/id>/.exec(user.slice(user.lastIndexOf('<verdict>')))?.[1] ?? ''
    const completion = fenced(user, id)
    const before = this.asked(completion)
    this.#counts.set(completion, before + 1)
    const asked: Asked = { completion, id, user, body, before, authorization }
    this.questions.push(asked)
    this.open += 1
    this.mostOpen = Math.max(this.mostOpen, this.open)
    const behaviour = (await this.#options.behave?.(asked)) ?? 'verdict'
    this.open -= 1
    const verdict = verdictFor(completion, id, this.#options.score)
    this.#act(behaviour, response, body.model, verdict)
    this.#last = verdict
  }

  #act(behaviour: Behaviour, response: ServerResponse, model: string, verdict: string): void {
    if (typeof behaviour === 'object') {
      const { status, headers, code = null } = behaviour
      send(response, status, JSON.stringify({ error: { message: 'injected', code } }), headers)
      return
    }
    const acts: Readonly<Record<typeof behaviour, () => void>> = {
      verdict: () => void send(response, 200, chat(model, verdict)),
      garble: () => void send(response, 200, chat(model, 'I would say 8 of 10.')),
      swap: () => void send(response, 200, chat(model, this.#last)),
      other_model: () => void send(response, 200, chat(`${model}-mini`, verdict)),
      half: () => {
        const text = chat(model, verdict)
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
        response.write(text.slice(0, text.length / 2), () => response.destroy())
      },
      cut: () => void response.socket?.destroy(),
      hang: () => undefined,
    }
    acts[behaviour]()
  }
}
