import { isAbsolute } from 'node:path'
import { listFiles, type ListFileEntry } from '@huggingface/hub'
import { PipelineError } from '../errors.ts'
import { access, type HubAccess } from './access.ts'
import type { Fingerprint } from './checksum.ts'
import type { RepoName } from './repo.ts'

/** A file as the hub lists it. */
export interface RemoteFile extends Fingerprint {
  readonly path: string
}

/** Names come from outside: one that could leave the snapshot's directory is refused. */
const isSafe = (path: string): boolean => !isAbsolute(path) && !/(^|[\\/])\.\.([\\/]|$)|^[a-z]:|\\/i.test(path)

const toRemote = ({ path, size, oid, lfs }: ListFileEntry): RemoteFile => {
  const hash = lfs?.oid ?? oid
  if (hash === undefined || !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash) || !isSafe(path))
    throw new PipelineError('setup', `the hub lists a file that cannot be checked or placed: ${path}`)
  return { path, size: lfs?.size ?? size, hash }
}

/** The files at the top of a repository at a commit, those that are wanted. */
export const listRemote = async (
  request: HubAccess & { readonly repo: RepoName; readonly commit: string },
  isWanted: (path: string) => boolean,
): Promise<RemoteFile[]> => {
  const { repo, commit } = request
  const files: RemoteFile[] = []
  for await (const entry of listFiles({ ...access(request), repo: { ...repo }, revision: commit }))
    if (entry.type === 'file' && isWanted(entry.path)) files.push(toRemote(entry))
  return files
}
