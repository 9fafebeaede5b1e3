import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { downloadFile, listFiles, modelInfo, type ListFileEntry } from '@huggingface/hub'
import { z } from 'zod'
import { PipelineError } from '../errors.ts'
import { RepoCache } from './cache.ts'
import { hashFor, matches, type Fingerprint } from './checksum.ts'
import { hubFailure } from './failure.ts'
import type { HubSettings } from './settings.ts'

export interface ModelRequest {
  /** owner/name */
  readonly repo: string
  /** Branch, tag or commit. */
  readonly revision: string
  readonly settings: HubSettings
  readonly signal?: AbortSignal | undefined
  /** Told of each file, and of large ones now and then. */
  readonly onProgress?: ((text: string) => void) | undefined
}

interface RemoteFile extends Fingerprint {
  readonly path: string
}

/** What transformers and vLLM read. Other frameworks' copies of the weights would double the download. */
const isWanted = (path: string): boolean =>
  !path.includes('/') && /\.(safetensors|json|txt|model|jinja|tiktoken)$/.test(path)

/** Names come from outside: one that could leave the snapshot's directory is refused. */
const isSafe = (path: string): boolean => !isAbsolute(path) && !/(^|[\\/])\.\.([\\/]|$)|^[a-z]:|\\/i.test(path)

const toRemote = ({ path, size, oid, lfs }: ListFileEntry): RemoteFile => {
  const hash = lfs?.oid ?? oid
  if (hash === undefined || !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash) || !isSafe(path))
    throw new PipelineError('setup', `the hub lists a file that cannot be checked or placed: ${path}`)
  return { path, size: lfs?.size ?? size, hash }
}

/** An access that ends with the caller's wish; the library itself takes no signal. */
const access = ({ settings, signal }: ModelRequest) => {
  const send: typeof fetch = (input, init) => fetch(input, signal === undefined ? init : { ...init, signal })
  return { hubUrl: settings.url, fetch: send, ...(settings.token === null ? {} : { accessToken: settings.token }) }
}

const gb = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e8 ? 3 : 1)} GB`
const secondsBetweenNews = 10

/** Streams a file to its blob; a content that is not what the hub announced is never put there. */
const download = async (request: ModelRequest, commit: string, file: RemoteFile, blob: string): Promise<void> => {
  const { repo, signal, onProgress } = request
  onProgress?.(`fetching ${repo}/${file.path}, ${gb(file.size)}`)
  const content = await downloadFile({ ...access(request), repo, path: file.path, revision: commit })
  if (content === null) throw new PipelineError('setup', `${repo} has no ${file.path} at ${commit}`)
  await mkdir(dirname(blob), { recursive: true })
  const partial = `${blob}.${process.pid}.incomplete`
  const hash = hashFor(file)
  let [received, lastNews] = [0, performance.now()]
  const count = async function* (source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      hash.update(chunk)
      received += chunk.length
      if (performance.now() - lastNews > secondsBetweenNews * 1000) {
        lastNews = performance.now()
        onProgress?.(`fetching ${repo}/${file.path}: ${gb(received)} of ${gb(file.size)}`)
      }
      yield chunk
    }
  }
  try {
    const source = Readable.fromWeb(content.stream() as ReadableStream)
    await pipeline(source, count, createWriteStream(partial), ...(signal === undefined ? [] : [{ signal }]))
    if (received !== file.size || hash.digest('hex') !== file.hash) {
      throw new PipelineError('setup', `${repo}/${file.path} arrived damaged: its checksum is not the hub’s`, {
        remedy: 'Start again; if it stays so, a proxy in between changes files.',
        retryable: true,
      })
    }
    await rename(partial, blob)
  } finally {
    await rm(partial, { force: true })
  }
}

const fetchAll = async (request: ModelRequest, cache: RepoCache): Promise<string> => {
  const { repo, revision } = request
  const { sha: commit } = await modelInfo({ ...access(request), name: repo, revision, additionalFields: ['sha'] })
  if (!/^[0-9a-f]{40}$/.test(commit))
    throw new PipelineError('setup', `the hub names no commit for ${repo}@${revision}`)
  const files: RemoteFile[] = []
  for await (const entry of listFiles({ ...access(request), repo, revision: commit }))
    if (entry.type === 'file' && isWanted(entry.path)) files.push(toRemote(entry))
  for (const file of files) {
    const blob = cache.blob(file.hash)
    if (!(await matches(blob, file))) await download(request, commit, file, blob)
    await cache.link(commit, file.path, file.hash)
  }
  await cache.remember(revision, commit)
  return cache.snapshot(commit)
}

const Index = z.object({ weight_map: z.record(z.string(), z.string()) })

/** Is everything there that a model needs? A download that was broken off leaves a snapshot with holes. */
const isComplete = async (directory: string): Promise<boolean> => {
  if (!existsSync(join(directory, 'config.json'))) return false
  const index = join(directory, 'model.safetensors.index.json')
  if (!existsSync(index)) return (await readdir(directory)).some((name) => name.endsWith('.safetensors'))
  const { weight_map: shards } = Index.parse(JSON.parse(await readFile(index, 'utf8')))
  return Object.values(shards).every((name) => existsSync(join(directory, name)))
}

/** The cached commit of a revision with all that a model needs, its content not looked at; null where it is not there. */
const cachedCommit = async (cache: RepoCache, revision: string): Promise<string | null> => {
  const commit = await cache.commitOf(revision)
  if (commit === null || !existsSync(cache.snapshot(commit))) return null
  return (await isComplete(cache.snapshot(commit))) ? commit : null
}

/** Whether a model can be had: in the cache, or from the hub; rejects with what stands in the way. */
export const probeModel = async (request: ModelRequest): Promise<'cached' | 'on the hub'> => {
  const { repo, revision, settings, signal } = request
  const cache = new RepoCache(settings.cacheDir, repo)
  if (settings.offline) {
    if ((await cachedCommit(cache, revision)) === null) throw notCached(repo, revision)
    return 'cached'
  }
  try {
    await modelInfo({ ...access(request), name: repo, revision, additionalFields: ['sha'] })
  } catch (error) {
    signal?.throwIfAborted()
    throw hubFailure(`asking the hub for ${repo}@${revision}`, error, settings)
  }
  return (await cachedCommit(cache, revision)) === null ? 'on the hub' : 'cached'
}

const notCached = (repo: string, revision: string): PipelineError =>
  new PipelineError('setup', `${repo}@${revision} is not in the cache, and HF_HUB_OFFLINE forbids to fetch it`, {
    remedy: 'Unset HF_HUB_OFFLINE once, or copy the cache from a machine that has it.',
  })

const fromCache = async ({ repo, revision }: ModelRequest, cache: RepoCache): Promise<string> => {
  const commit = await cachedCommit(cache, revision)
  if (commit === null) throw notCached(repo, revision)
  const damaged = await cache.damaged(commit)
  if (damaged.length === 0) return cache.snapshot(commit)
  throw new PipelineError('setup', `${repo}@${revision} is damaged in the cache: ${damaged.join(', ')}`, {
    remedy: 'Unset HF_HUB_OFFLINE once: what is damaged is fetched anew.',
  })
}

/**
 * The directory of a hub model at a revision, in the cache that all clients of the hub share. What is missing or damaged
 * there is fetched; every file's checksum is compared with the hub's, cached ones too. Throws a PipelineError of setup.
 */
export const fetchModel = async (request: ModelRequest): Promise<string> => {
  const { repo, revision, settings, signal } = request
  const cache = new RepoCache(settings.cacheDir, repo)
  if (settings.offline) return await fromCache(request, cache)
  try {
    return await fetchAll(request, cache)
  } catch (error) {
    signal?.throwIfAborted()
    throw hubFailure(`fetching ${repo}@${revision}`, error, settings)
  }
}
