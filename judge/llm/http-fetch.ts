import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { parseJson } from '../../data/json.ts'
import { withhold } from '../../data/withhold.ts'

/** More than any verdict needs. */
const BODY_LIMIT = 8 * 2 ** 20
/** Statuses that have no body, by the standard. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

const readBody = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  // A connection that closes half-way throws here.
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_LIMIT) throw new Error(`the body is longer than ${BODY_LIMIT} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const toHeaders = (incoming: IncomingMessage): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, [value ?? ''].flat().join(', '))
  return headers
}

/**
 * What the OpenAI client calls instead of the global fetch, which gives up after 300 s without response headers whatever
 * deadline it is given; a busy judge sends them only when its verdict is complete. Here only the signal ends an exchange.
 * Each has its own connection: nothing is lost to a server that closes idle ones. The body is read whole before the
 * response is handed on.
 */
export const httpFetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  const url = new URL(input instanceof Request ? input.url : input)
  const headers = Object.fromEntries(new Headers(init.headers).entries())
  const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined
  if (body !== undefined) headers['content-length'] = String(body.length)
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest
  const signal = init.signal ?? undefined
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = open(url, {
      method: init.method ?? 'GET',
      headers,
      agent: false,
      ...(signal === undefined ? {} : { signal }),
    })
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.end(body)
  })
  const status = incoming.statusCode ?? 0
  const raw = await readBody(incoming)
  // A result stays as it came; anything else goes into messages.
  const content =
    status >= 200 && status < 300 && parseJson(raw) !== undefined ? raw : withhold(raw, headers['authorization'])
  return new Response(bodiless.has(status) ? null : content, { status, headers: toHeaders(incoming) })
}
