import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HubRequest {
  readonly path: string
  readonly authorization: string | undefined
}

const gitHash = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Speaks the part of the hub's API that a download uses, for one repository. Large files go by sha256, small ones by git's. */
export const hubServer = async (options: {
  readonly repo: string
  readonly commit: string
  readonly files: Readonly<Record<string, string>>
  readonly token?: string
  /** Content that is sent instead of what was announced. */
  readonly spoilt?: Readonly<Record<string, string>>
}) => {
  const requests: HubRequest[] = []
  const { repo, commit, files } = options
  const tree = Object.entries(files).map(([path, text]) => {
    const content = Buffer.from(text)
    const lfs = path.endsWith('.safetensors')
      ? { lfs: { oid: sha256(content), size: content.length, pointerSize: 130 } }
      : {}
    return { type: 'file', path, size: content.length, oid: gitHash(content), ...lfs }
  })
  const sendFile = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    const content = Buffer.from(options.spoilt?.[path] ?? files[path] ?? '')
    const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
    const etag = { etag: `"${gitHash(content)}"` }
    if (from === undefined)
      return void response.writeHead(200, { ...etag, 'content-length': content.length }).end(content)
    const end = Math.min(to === undefined || to === '' ? content.length - 1 : Number(to), content.length - 1)
    const range = { 'content-range': `bytes ${from}-${end}/${content.length}` }
    response.writeHead(206, { ...etag, ...range }).end(content.subarray(Number(from), end + 1))
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = decodeURIComponent((request.url ?? '').split('?', 1)[0] ?? '')
    requests.push({ path, authorization: request.headers.authorization })
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`)
      return json(401, { error: 'Invalid credentials' })
    if (path.startsWith(`/api/models/${repo}/revision/`)) return json(200, { _id: '1', id: repo, sha: commit })
    if (path.startsWith(`/api/models/${repo}/tree/${commit}`)) return json(200, tree)
    const file = path.startsWith(`/${repo}/resolve/${commit}/`) ? path.split('/').slice(5).join('/') : undefined
    if (file !== undefined && file in files) return sendFile(request, response, file)
    json(404, { error: 'Repository not found' })
  }
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close }
}
