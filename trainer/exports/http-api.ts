import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { exchange, readError, succeeded, type HttpReply } from '../http.ts'

const timeoutMs = 15_000

export interface Api {
  /** Name of the program, for messages. */
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** An address as it may be shown: whatever stands in it as a password does not. */
const shown = (url: string): string => {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
}

const addressOf = ({ url }: Api, path: string): string => {
  const base = new URL(url)
  base.pathname = `${base.pathname.replace(/\/+$/, '')}${path.split('?')[0] ?? ''}`
  base.search = path.split('?')[1] ?? ''
  return base.href
}

export const refusal = (api: Api, what: string, cause?: unknown): PipelineError =>
  new PipelineError('setup', `${api.name} at ${shown(api.url)}: ${what}`, {
    remedy: 'Check address, token and server, or leave this export out.',
    retryable: true,
    ...(cause === undefined ? {} : { cause }),
  })

/** One request; a reply of any status is a reply. Throws a PipelineError where there is none. */
export const askApi = async (
  api: Api,
  request: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: unknown },
  signal: AbortSignal,
): Promise<HttpReply> => {
  const { method, path, body } = request
  try {
    return await exchange({ method, url: addressOf(api, path), body, headers: api.headers, timeoutMs, signal })
  } catch (error) {
    if (signal.aborted) throw error
    throw refusal(api, `no answer (${(error as Error).message})`, error)
  }
}

/** The JSON of a reply that succeeded; anything else is a refusal with the server's words. */
export const requireJson = (api: Api, reply: HttpReply): unknown => {
  if (!succeeded(reply)) throw refusal(api, `status ${reply.status}: ${readError(reply).message}`)
  try {
    return reply.text === '' ? {} : (JSON.parse(reply.text) as unknown)
  } catch (error) {
    throw refusal(api, 'the answer is no JSON', error)
  }
}

/** What a server of the kind answers; a refusal where it is something else. */
export const requireShape = <T>(api: Api, shape: z.ZodType<T>, json: unknown): T => {
  const parsed = shape.safeParse(json)
  if (parsed.success) return parsed.data
  throw refusal(api, `the answer is not that of ${api.name}: ${z.prettifyError(parsed.error)}`, parsed.error)
}

export const postJson = async (api: Api, path: string, body: unknown, signal: AbortSignal): Promise<unknown> =>
  requireJson(api, await askApi(api, { method: 'POST', path, body }, signal))
