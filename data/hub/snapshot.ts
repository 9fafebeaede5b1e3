import { existsSync } from 'node:fs'
import { PipelineError } from '../errors.ts'
import type { HubAccess } from './access.ts'
import { RepoCache } from './cache.ts'
import { matches } from './checksum.ts'
import { download } from './download.ts'
import { hubFailure } from './failure.ts'
import { repoInfo } from './info.ts'
import { listRemote } from './remote-file.ts'
import type { RepoName } from './repo.ts'

export interface SnapshotRequest extends HubAccess {
  readonly repo: RepoName
  /** Branch, tag or commit. */
  readonly revision: string
  /** Which files are fetched, by their path in the repository. */
  readonly isWanted: (path: string) => boolean
  /** Is everything there that is needed? A download that was broken off leaves a snapshot with holes. */
  readonly isComplete: (directory: string) => Promise<boolean>
}

const nameOf = ({ repo, revision }: SnapshotRequest): string => `${repo.name}@${revision}`

const fetchAll = async (request: SnapshotRequest, cache: RepoCache): Promise<string> => {
  const { revision, isWanted } = request
  const { commit } = await repoInfo(request)
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new PipelineError('setup', `the hub names no commit for ${nameOf(request)}`)
  for (const file of await listRemote({ ...request, commit }, isWanted)) {
    const blob = cache.blob(file.hash)
    if (!(await matches(blob, file))) await download({ ...request, commit }, file, blob)
    await cache.link(commit, file.path, file.hash)
  }
  await cache.remember(revision, commit)
  return cache.snapshot(commit)
}

/** The cached commit of a revision with all that is needed, its content not looked at; null where it is not there. */
const cachedCommit = async ({ revision, isComplete }: SnapshotRequest, cache: RepoCache): Promise<string | null> => {
  const commit = await cache.commitOf(revision)
  if (commit === null || !existsSync(cache.snapshot(commit))) return null
  return (await isComplete(cache.snapshot(commit))) ? commit : null
}

const notCached = (request: SnapshotRequest): PipelineError =>
  new PipelineError('setup', `${nameOf(request)} is not in the cache, and HF_HUB_OFFLINE forbids to fetch it`, {
    remedy: 'Unset HF_HUB_OFFLINE once, or copy the cache from a machine that has it.',
  })

const fromCache = async (request: SnapshotRequest, cache: RepoCache): Promise<string> => {
  const commit = await cachedCommit(request, cache)
  if (commit === null) throw notCached(request)
  const damaged = await cache.damaged(commit)
  if (damaged.length === 0) return cache.snapshot(commit)
  throw new PipelineError('setup', `${nameOf(request)} is damaged in the cache: ${damaged.join(', ')}`, {
    remedy: 'Unset HF_HUB_OFFLINE once: what is damaged is fetched anew.',
  })
}

/** Whether a snapshot can be had: in the cache, or from the hub; rejects with what stands in the way. */
export const probeSnapshot = async (request: SnapshotRequest): Promise<'cached' | 'on the hub'> => {
  const { repo, settings, signal } = request
  const cache = new RepoCache(settings.cacheDir, repo)
  if (settings.offline) {
    if ((await cachedCommit(request, cache)) === null) throw notCached(request)
    return 'cached'
  }
  try {
    await repoInfo(request)
  } catch (error) {
    signal?.throwIfAborted()
    throw hubFailure(`asking the hub for ${nameOf(request)}`, error, settings)
  }
  return (await cachedCommit(request, cache)) === null ? 'on the hub' : 'cached'
}

/**
 * The directory of a repository's files at a revision, in the cache that all clients of the hub share. What is missing or
 * damaged there is fetched; every file's checksum is compared with the hub's, cached ones too. Throws a PipelineError of
 * setup.
 */
export const fetchSnapshot = async (request: SnapshotRequest): Promise<string> => {
  const { repo, settings, signal } = request
  const cache = new RepoCache(settings.cacheDir, repo)
  if (settings.offline) return await fromCache(request, cache)
  try {
    return await fetchAll(request, cache)
  } catch (error) {
    signal?.throwIfAborted()
    throw hubFailure(`fetching ${nameOf(request)}`, error, settings)
  }
}
