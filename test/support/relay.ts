import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as open, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request on its way through a relay. */
export interface Passing {
  readonly method: string
  readonly route: string
  readonly text: string
  /** The body, where it is JSON; otherwise undefined. */
  readonly body: unknown
  /** How many requests with this route and body came before. */
  readonly before: number
}

/** Who is behind a relay now. A token takes the place of the one that clients send. */
export interface Target {
  readonly url: string
  readonly token?: string | undefined
}

/**
 * What becomes of a request that is about to be passed on. cut: its connection is closed and nothing passed on. twice: it is
 * passed on two times, one after the other; the first reply is given back. again later: it comes a second time when others have
 * passed meanwhile, and nobody hears the answer.
 */
export type OnTheWay = 'pass' | 'cut' | 'twice' | 'again later'
/** What becomes of a reply. cut: closed before it. half: closed inside it. short: half of it, as if it were all. */
export type OnTheWayBack = 'pass' | 'cut' | 'half' | 'short'

/** Shown every request, each time as a promise: as long as it is not settled, the exchange is held. */
export interface Hooks {
  readonly request?: (passing: Passing) => Promise<OnTheWay> | OnTheWay
  /** The request was passed on; its reply is not there yet. */
  readonly sent?: (passing: Passing) => void
  readonly reply?: (passing: Passing, status: number) => Promise<OnTheWayBack> | OnTheWayBack
}

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: Buffer
}

const readAll = async (stream: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** How many others pass before a request comes again. */
const later = 12

/** A pass-through on loopback between a client and a server: shows each exchange to hooks, which may hold or spoil it. */
export class Relay {
  /** Who is behind it; null: nobody, and connections are closed. */
  target: Target | null
  hooks: Hooks = {}
  /** Requests that were passed on or spoiled. */
  count = 0
  readonly #seen = new Map<string, number>()
  readonly #again: { readonly at: number; readonly send: () => void }[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  private constructor(target: Target | null) {
    this.target = target
  }

  static async start(target: Target | null = null): Promise<Relay> {
    const relay = new Relay(target)
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController()
    response.once('close', () => left.abort())
    try {
      const text = (await readAll(request)).toString('utf8')
      const passing = this.#passing(request, text)
      this.count += 1
      const act = (await this.hooks.request?.(passing)) ?? 'pass'
      if (act === 'cut') return void response.socket?.destroy()
      const reply = await this.#forward(request, passing, left.signal)
      if (act === 'twice') await this.#forward(request, passing, left.signal)
      if (act === 'again later') {
        const unheard = new AbortController().signal
        const send = (): void => void this.#forward(request, passing, unheard).catch(() => undefined)
        this.#again.push({ at: this.count + later, send })
      }
      while (this.#again[0] !== undefined && this.#again[0].at <= this.count) this.#again.shift()?.send()
      await this.#giveBack(passing, reply, response)
    } catch {
      // Either side went away: the other one sees a closed connection, as it would without the relay.
      response.socket?.destroy()
    }
  }

  #passing({ method = 'GET', url = '/' }: IncomingMessage, text: string): Passing {
    const key = createHash('sha256').update(`${method} ${url} ${text}`).digest('base64')
    const before = this.#seen.get(key) ?? 0
    this.#seen.set(key, before + 1)
    return { method, route: url, text, body: parsed(text), before }
  }

  /** Closes the connection to the server when the client leaves: servers stop their work on that. */
  #forward(request: IncomingMessage, passing: Passing, signal: AbortSignal): Promise<Reply> {
    const { target } = this
    if (target === null) throw new Error('nobody is there')
    const headers = { ...request.headers, host: new URL(target.url).host, connection: 'close' }
    if (target.token !== undefined) headers.authorization = `Bearer ${target.token}`
    return new Promise((resolve, reject) => {
      const outgoing = open(`${target.url}${passing.route}`, {
        ...{ method: passing.method, headers, agent: false, signal },
      })
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        readAll(incoming).then(
          (body) => resolve({ status: incoming.statusCode ?? 502, type: incoming.headers['content-type'] ?? '', body }),
          reject,
        )
      })
      outgoing.end(passing.text, () => this.hooks.sent?.(passing))
    })
  }

  async #giveBack(passing: Passing, { status, type, body }: Reply, response: ServerResponse): Promise<void> {
    const act = (await this.hooks.reply?.(passing, status)) ?? 'pass'
    const half = body.subarray(0, body.length >> 1)
    if (act === 'cut') return void response.socket?.destroy()
    response.writeHead(status, {
      ...(type === '' ? {} : { 'content-type': type }),
      'content-length': act === 'short' ? half.length : body.length,
    })
    if (act === 'half') response.write(half, () => response.destroy())
    else response.end(act === 'short' ? half : body)
  }
}
