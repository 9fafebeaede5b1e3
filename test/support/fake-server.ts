import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface RecordedCall {
  readonly route: string
  readonly body: unknown
  readonly authorization: string | undefined
}

/** An answer; `hang` never answers, `cut` closes the connection without one, `half` in the middle of it. */
export type Answer =
  | { readonly status?: number; readonly json?: unknown; readonly text?: string }
  | 'hang'
  | 'cut'
  | 'half'

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

/** A loopback server for faults that real parts cannot be made to show. Records every call. */
export const fakeServer = async (
  answer: (call: RecordedCall, number: number, headers: IncomingHttpHeaders) => Answer,
) => {
  const calls: RecordedCall[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = {
      route: `${request.method} ${request.url}`,
      body: await readBody(request),
      authorization: request.headers.authorization,
    }
    calls.push(call)
    const reply = answer(call, calls.length, request.headers)
    if (reply === 'cut') response.socket?.destroy()
    else if (reply === 'half') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
      response.write('{"choices": [', () => response.socket?.destroy())
    } else if (reply !== 'hang') {
      response.writeHead(reply.status ?? 200, {
        'content-type': reply.json === undefined ? 'text/plain' : 'application/json',
      })
      response.end(reply.json === undefined ? (reply.text ?? '') : JSON.stringify(reply.json))
    }
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${port}`, calls, close }
}
