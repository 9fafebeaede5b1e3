import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface HubRequest {
  readonly path: string
  readonly method: string
  readonly authorization: string | undefined
}

/** What goes wrong at a request: the first whose path matches is used, once. */
export interface HubFault {
  readonly at: RegExp
  /** Answer, or `reset`: the connection breaks while the body arrives. */
  readonly with:
    | { readonly status: number; readonly headers?: Record<string, string>; readonly error: string }
    | 'reset'
}

export interface HubServerOptions {
  readonly repo: string
  readonly commit: string
  readonly files: Readonly<Record<string, string>>
  readonly token?: string
  /** Content that is sent instead of what was announced. */
  readonly spoilt?: Readonly<Record<string, string>>
  readonly type?: 'model' | 'dataset'
  readonly isPrivate?: boolean
  /** No repository is there until it is made. */
  readonly isMissing?: boolean
  /** Large files are changed on the way: what is stored is not what was sent. */
  readonly spoilsUploads?: boolean
  readonly whoami?: unknown
  readonly faults?: HubFault[]
}

const gitHash = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
const isLarge = (path: string): boolean => path.endsWith('.safetensors')

interface CommitLine {
  readonly key: 'header' | 'file' | 'lfsFile'
  readonly value: {
    readonly path: string
    readonly content: string
    readonly encoding?: BufferEncoding
    readonly oid: string
  }
}

type Answer = (status: number, body: unknown, headers?: Record<string, string>) => void

interface Exchange {
  readonly path: string
  readonly method: string
  readonly body: Buffer
  readonly answer: Answer
}

/** The state of one repository, and what the hub answers about it. */
const repository = (options: HubServerOptions) => {
  const { repo, type = 'model' } = options
  const api = `/api/${type}s/${repo}`
  const page = type === 'dataset' ? `/datasets/${repo}` : `/${repo}`
  const stored = new Map<string, Buffer>()
  const files = new Map<string, Buffer>()
  for (const [path, text] of Object.entries(options.files)) files.set(path, Buffer.from(text))
  const state = { exists: options.isMissing !== true, isPrivate: options.isPrivate === true, commits: [] as string[] }
  const tree = () =>
    [...files].map(([path, content]) => {
      const lfs = isLarge(path) ? { lfs: { oid: sha256(content), size: content.length, pointerSize: 130 } } : {}
      return { type: 'file', path, size: content.length, oid: gitHash(content), ...lfs }
    })
  const commit = ({ body, answer }: Exchange): void => {
    for (const line of body.toString().split('\n')) {
      const { key, value } = JSON.parse(line) as CommitLine
      if (key === 'file') files.set(value.path, Buffer.from(value.content, value.encoding ?? 'utf8'))
      if (key === 'lfsFile') {
        const content = stored.get(value.oid)
        if (content === undefined) return answer(422, { error: `LFS object ${value.oid} was not uploaded` })
        files.set(value.path, content)
      }
    }
    state.commits.push(body.toString())
    answer(200, { commitOid: options.commit, commitUrl: `${page}/commit/${options.commit}`, success: true })
  }
  const create = ({ body, answer }: Exchange): void => {
    const asked = JSON.parse(body.toString()) as { visibility?: string }
    if (state.exists) return answer(409, { error: 'You already created this repo' })
    state.exists = true
    state.isPrivate = asked.visibility === 'private'
    answer(200, { url: page, id: '1' })
  }
  const preupload = ({ body, answer }: Exchange): void => {
    const asked = JSON.parse(body.toString()) as { files: { path: string }[] }
    answer(200, { files: asked.files.map(({ path }) => ({ path, uploadMode: isLarge(path) ? 'lfs' : 'regular' })) })
  }
  const batch = ({ body, answer }: Exchange, url: string): void => {
    const asked = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] }
    const objects = asked.objects.map(({ oid, size }) => ({
      ...{ oid, size },
      ...(stored.has(oid) ? {} : { actions: { upload: { href: `${url}/store/${oid}` } } }),
    }))
    answer(200, { transfer: 'basic', objects })
  }
  /** As the hub's store does: content under another hash than announced is refused. */
  const put = ({ path, body, answer }: Exchange): void => {
    const content = options.spoilsUploads === true ? Buffer.from(body.toString('latin1').toUpperCase()) : body
    const oid = path.slice('/store/'.length)
    if (sha256(content) !== oid) return answer(400, { error: 'BadDigest: the content is not what its checksum says' })
    stored.set(oid, content)
    answer(200, {})
  }
  return { api, page, files, state, tree, commit, create, preupload, batch, put }
}

/**
 * Speaks the part of the hub's API that downloads and uploads use, for one repository. Large files go by sha256 (Git
 * LFS), small ones by git's hash.
 */
export const hubServer = async (options: HubServerOptions) => {
  const requests: HubRequest[] = []
  const faults = [...(options.faults ?? [])]
  const own = repository(options)
  let url = ''

  const sendFile = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    const content = Buffer.from(options.spoilt?.[path] ?? own.files.get(path) ?? '')
    const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
    const etag = { etag: `"${gitHash(content)}"` }
    if (from === undefined)
      return void response.writeHead(200, { ...etag, 'content-length': content.length }).end(content)
    const end = Math.min(to === undefined || to === '' ? content.length - 1 : Number(to), content.length - 1)
    const range = { 'content-range': `bytes ${from}-${end}/${content.length}` }
    response.writeHead(206, { ...etag, ...range }).end(content.subarray(Number(from), end + 1))
  }

  const read = ({ path, answer }: Exchange, request: IncomingMessage, response: ServerResponse): void => {
    const { commit, repo } = options
    if (path === '/api/whoami-v2' && options.whoami !== undefined) return answer(200, options.whoami)
    if (!own.state.exists) return answer(404, { error: 'Repository not found' })
    if (path.startsWith(`${own.api}/revision/`))
      return answer(200, { _id: '1', id: repo, sha: commit, private: own.state.isPrivate })
    if (path.startsWith(`${own.api}/tree/${commit}`)) return answer(200, own.tree())
    const prefix = `${own.page}/resolve/${commit}/`
    const file = path.startsWith(prefix) ? path.slice(prefix.length) : undefined
    if (file !== undefined && own.files.has(file)) return sendFile(request, response, file)
    answer(404, { error: 'Repository not found' })
  }

  const write = (exchange: Exchange): void => {
    const { path, method, answer } = exchange
    if (method === 'PUT' && path.startsWith('/store/')) return own.put(exchange)
    if (path === '/api/repos/create') return own.create(exchange)
    if (!own.state.exists) return answer(404, { error: 'Repository not found' })
    if (path === `${own.api}/preupload/main`) return own.preupload(exchange)
    if (path === `${own.page}.git/info/lfs/objects/batch`) return own.batch(exchange, url)
    if (path === `${own.api}/commit/main`) return own.commit(exchange)
    answer(404, { error: 'no such route' })
  }

  /** The store takes signed addresses, everything else the token. */
  const isAllowed = ({ headers }: IncomingMessage, path: string): boolean =>
    options.token === undefined || path.startsWith('/store/') || headers.authorization === `Bearer ${options.token}`

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent((request.url ?? '').split('?', 1)[0] ?? '')
    const method = request.method ?? 'GET'
    requests.push({ path, method, authorization: request.headers.authorization })
    const answer: Answer = (status, body, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    const at = faults.findIndex((one) => one.at.test(`${method} ${path}`))
    const [fault] = at === -1 ? [] : faults.splice(at, 1)
    if (fault?.with === 'reset') return void request.once('data', () => request.socket.resetAndDestroy())
    const body = await buffer(request)
    if (fault !== undefined) return answer(fault.with.status, { error: fault.with.error }, fault.with.headers)
    if (!isAllowed(request, path)) return answer(401, { error: 'Invalid credentials' })
    const exchange = { path, method, body, answer }
    if (method === 'GET' || method === 'HEAD') read(exchange, request, response)
    else write(exchange)
  }

  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  /** What the repository holds, and the bodies of the commits that were made. */
  const contents = (): Record<string, string> =>
    Object.fromEntries([...own.files].map(([path, content]) => [path, content.toString()]))
  return { url, requests, close, contents, state: own.state }
}
