import { commitIter, createRepo, type CommitProgressEvent } from '@huggingface/hub'
import { PipelineError } from '../errors.ts'
import { access, type HubAccess } from './access.ts'
import { bytesOf, contentOf, isSame, type HubFile } from './content.ts'
import { gb } from './download.ts'
import { hubFailure, statusOf } from './failure.ts'
import { repoInfo } from './info.ts'
import { listRemote } from './remote-file.ts'
import { repoPath, type RepoName } from './repo.ts'

export interface PushRequest extends HubAccess {
  readonly repo: RepoName
  readonly files: readonly HubFile[]
  /** First line of the commit's message. */
  readonly title: string
  /** The repository must not be seen by others: made private, refused where it is public. */
  readonly isPrivate: boolean
}

export interface Pushed {
  /** Page of the repository. */
  readonly url: string
  readonly commit: string
  /** Was the repository made for this? */
  readonly created: boolean
}

const requireToken = ({ settings }: PushRequest): void => {
  if (settings.offline) {
    throw new PipelineError('setup', 'HF_HUB_OFFLINE is set: nothing can be pushed', { remedy: 'Unset it.' })
  }
  if (settings.token === null) {
    throw new PipelineError('setup', 'there is no token for the hub', {
      remedy: 'Set HF_TOKEN to one with write access, or run hf auth login; --dry-run needs none.',
    })
  }
}

/** Is it there, and may others see it? The hub says of a repository that a token does not see that there is none. */
const visibilityOf = async (request: PushRequest): Promise<'none' | 'public' | 'private'> => {
  try {
    return (await repoInfo(request)).isPrivate ? 'private' : 'public'
  } catch (error) {
    if (statusOf(error) === 404) return 'none'
    throw error
  }
}

const create = async (request: PushRequest): Promise<boolean> => {
  const { repo, isPrivate, settings } = request
  try {
    const visibility = isPrivate ? { visibility: 'private' as const } : {}
    await createRepo({ ...access(request), accessToken: settings.token ?? '', repo: { ...repo }, ...visibility })
    return true
  } catch (error) {
    // Somebody made it since it was asked for, or the answer to the first try was lost.
    if (statusOf(error) === 409) return false
    throw error
  }
}

/** Makes the repository where it is missing. True: it was made. */
const settleRepo = async (request: PushRequest): Promise<boolean> => {
  const created = (await visibilityOf(request)) === 'none' && (await create(request))
  if (!created && request.isPrivate && (await visibilityOf(request)) === 'public') {
    throw new PipelineError('usage', `--private: ${request.repo.name} exists and is public; nothing was sent`, {
      remedy: 'Make it private on its page first, or push to another name.',
    })
  }
  return created
}

const phases: Readonly<Record<string, string>> = {
  preuploading: 'asking the hub what it has already',
  uploadingLargeFiles: 'sending large files',
  committing: 'committing',
}

const secondsBetweenNews = 10

/** Tells phases, and how far large files are now and then. */
const teller = (onProgress: PushRequest['onProgress']) => {
  let lastNews = performance.now()
  return (event: CommitProgressEvent): void => {
    if (event.event === 'phase') return onProgress?.(phases[event.phase] ?? event.phase)
    if (performance.now() - lastNews < secondsBetweenNews * 1000) return
    lastNews = performance.now()
    onProgress?.(`${event.state} ${event.path}: ${(100 * event.progress).toFixed(0)} %`)
  }
}

const send = async (request: PushRequest): Promise<string> => {
  const { repo, files, title, signal, onProgress } = request
  const tell = teller(onProgress)
  const events = commitIter({
    ...access(request),
    ...{ repo: { ...repo }, title },
    ...(signal === undefined ? {} : { abortSignal: signal }),
    operations: files.map((file) => ({ operation: 'addOrUpdate', path: file.path, content: contentOf(file) })),
    // Git LFS: the store refuses content whose sha256 is another than announced.
    useXet: false,
  })
  for (;;) {
    const { done, value } = await events.next()
    if (done !== true) tell(value)
    else if (value === undefined) throw new Error('the hub names no commit')
    else return value.commit.oid
  }
}

/** What the hub has at the commit is compared with what was to be sent, file by file. */
const verify = async (request: PushRequest, commit: string): Promise<void> => {
  const there = await listRemote({ ...request, commit }, () => true)
  for (const file of request.files) {
    const found = there.find(({ path }) => path === file.path)
    if (found !== undefined && (await isSame(file, found))) continue
    throw new PipelineError('setup', `${file.path} on the hub is not what was sent (commit ${commit})`, {
      remedy: 'Push again; if it stays so, a proxy in between changes files.',
    })
  }
}

/**
 * Puts files into a repository of the hub in one commit, and looks at what is there afterwards. Makes the repository where
 * it is missing. Throws a PipelineError of setup, or of usage.
 */
export const push = async (request: PushRequest): Promise<Pushed> => {
  requireToken(request)
  const { repo, files, settings, signal, onProgress } = request
  try {
    const created = await settleRepo(request)
    if (created) onProgress?.(`made ${request.isPrivate ? 'private ' : ''}${repo.type} repository ${repo.name}`)
    const sizes = await Promise.all(files.map(bytesOf))
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
    onProgress?.(`pushing ${files.length} files, ${gb(total)}, to ${repo.name}`)
    const commit = await send(request)
    await verify(request, commit)
    return { url: `${settings.url}/${repoPath(repo)}`, commit, created }
  } catch (error) {
    signal?.throwIfAborted()
    throw hubFailure(`pushing to ${repo.name}`, error, settings, 'write')
  }
}
