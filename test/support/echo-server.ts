import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface EchoOptions {
  /** Where what is not refused goes to. Absent: everything is refused. */
  readonly upstream?: string
  /** Which requests are refused, by path, body, and how many were refused before. */
  readonly refuses?: (path: string, body: string, before: number) => boolean
  readonly status?: number
}

/** A server, or a proxy, that tells in its refusals what headers it was sent: badly made ones do. */
export const echoServer = async ({ upstream, refuses = () => true, status = 500 }: EchoOptions = {}) => {
  const told: string[] = []
  const refuse = (request: IncomingMessage, response: ServerResponse): void => {
    const headers = JSON.stringify(request.headers)
    told.push(headers)
    const message = `not with ${request.headers.authorization ?? 'nothing'}`
    response.writeHead(status, { 'content-type': 'application/json', 'x-error-message': message })
    response.end(JSON.stringify({ error: { message: `${message}; headers: ${headers}`, type: headers, code: status } }))
  }
  const forward = async (request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> => {
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const method = request.method ?? 'GET'
    const answer = await fetch(`${upstream}${request.url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
    })
    const type = answer.headers.get('content-type') ?? 'text/plain'
    response.writeHead(answer.status, { 'content-type': type }).end(Buffer.from(await answer.arrayBuffer()))
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    if (upstream === undefined || refuses(request.url ?? '', body.toString(), told.length)) refuse(request, response)
    else await forward(request, response, body)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, told, close }
}
