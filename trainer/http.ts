import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isRecord, parseJson } from '../data/json.ts'
import { anySignal } from '../data/any-signal.ts'
import { withhold } from '../data/withhold.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body?: unknown
  readonly token?: string | undefined
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Aborting closes the connection, which also stops the work on a server that watches for it. */
  readonly signal?: AbortSignal | undefined
}

export interface HttpReply {
  readonly status: number
  readonly text: string
}

const isOk = (status: number): boolean => status >= 200 && status < 300

/**
 * One HTTP exchange with a JSON body, and a deadline over the whole of it. Built on node:http because the global fetch
 * gives up after 300 s without response headers whatever deadline it is given, and a sampler sends headers only when a
 * group is complete. Each exchange has its own connection: nothing is lost to a server that closes idle ones.
 * Rejects with a TimeoutError at the deadline, with the signal's reason, with the socket's error, or where a JSON reply was cut off.
 */
export const exchange = async (request: HttpRequest): Promise<HttpReply> => {
  request.signal?.throwIfAborted()
  const payload = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body))
  const headers: Record<string, string | number> = { accept: 'application/json, text/plain', ...request.headers }
  if (request.token !== undefined) headers['authorization'] = `Bearer ${request.token}`
  if (payload !== undefined)
    Object.assign(headers, { 'content-type': 'application/json', 'content-length': payload.length })
  const { authorization } = headers
  const open = request.url.startsWith('https:') ? httpsRequest : httpRequest
  const { signal, release } = anySignal([AbortSignal.timeout(request.timeoutMs), request.signal])
  try {
    return await new Promise<HttpReply>((resolve, reject) => {
      const outgoing = open(request.url, { method: request.method, headers, signal, agent: false }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const raw = Buffer.concat(chunks).toString('utf8')
          const status = incoming.statusCode ?? 0
          const isJson = parseJson(raw) !== undefined
          // A result stays as it came; anything else goes into messages.
          const isResult = isOk(status) && isJson
          const text = isResult ? raw : withhold(raw, authorization === undefined ? undefined : String(authorization))
          if (!isJson && saysJson(incoming.headers['content-type']) && raw !== '') reject(new CutOffError())
          else resolve({ status, text })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(payload)
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    release()
  }
}

/** Status worth another try later: the server was busy, restarting, or too slow. */
export const isRetryableStatus = (status: number): boolean => [408, 425, 429, 502, 503, 504].includes(status)

/** Did the reply succeed? */
export const succeeded = (reply: HttpReply): boolean => isOk(reply.status)

/**
 * Reads the message and type of an error body: OpenAI's `{"error": {…}}`, `{"error": "text"}`, `{"detail": …}`,
 * `{"message": "text"}`, or plain text.
 * Long bodies are cut.
 */
export const readError = (reply: HttpReply): { readonly message: string; readonly type: string | undefined } => {
  const body = parseJson(reply.text)
  const error = isRecord(body) ? body['error'] : undefined
  if (isRecord(error) && typeof error['message'] === 'string') {
    return { message: error['message'], type: typeof error['type'] === 'string' ? error['type'] : undefined }
  }
  if (typeof error === 'string') return { message: error, type: undefined }
  const detail = isRecord(body) ? body['detail'] : undefined
  if (detail !== undefined)
    return { message: typeof detail === 'string' ? detail : JSON.stringify(detail), type: undefined }
  const message = isRecord(body) ? body['message'] : undefined
  if (typeof message === 'string') return { message, type: undefined }
  const text = reply.text.trim().slice(0, 500)
  return { message: text === '' ? `HTTP status ${reply.status} without a body` : text, type: undefined }
}

/** A reply that says it is JSON and is not: something on the way cut it off, as good as a broken connection. */
class CutOffError extends Error {
  readonly code = 'EBADMSG'
  constructor() {
    super('the reply was cut off')
  }
}

const saysJson = (type: string | undefined): boolean => type?.startsWith('application/json') === true

const transientCodes = new Set(['EBADMSG', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'])

/** A process that dies breaks its connections a moment before its end is known. */
const noticeMs = 1000

/** After a broken connection: waits until `gone` says why its server ended, or for long enough to believe it lives. */
export const untilKnown = async (gone: AbortSignal | undefined, error: unknown): Promise<void> => {
  if (gone === undefined || gone.aborted || !isTransient(error)) return
  await once(gone, 'abort', { signal: AbortSignal.timeout(noticeMs) }).catch(() => undefined)
}

/** A connection that failed in a way that another try may not. */
export const isTransient = (error: unknown): boolean => {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && transientCodes.has(code)
}
