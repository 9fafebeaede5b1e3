import { basename } from 'node:path'
import { repoNamePattern } from '../../data/hub/repo.ts'
import type { RunMeta } from '../../data/records/run.ts'

/** The base that an adapter belongs to, as others can find it. */
export interface BaseModel {
  /** A name of the hub; else the last part of the directory that it was loaded from. */
  readonly name: string
  readonly onHub: boolean
  /** Commit, or what was asked for; null outside of the hub. */
  readonly revision: string | null
  /** Hash of its weights. */
  readonly hash: string
}

const snapshot = /models--([^/\\]+)--([^/\\]+)[/\\]snapshots[/\\]([0-9a-f]{40})[/\\]?$/

/** Reads it off the record of a run: a model of the hub was loaded from the snapshot of a commit, or by its name. */
export const baseModelOf = ({ path, hash }: RunMeta['model'], revision: string): BaseModel => {
  const [, owner, name, commit] = snapshot.exec(path) ?? []
  if (commit !== undefined) return { name: `${owner}/${name}`, onHub: true, revision: commit, hash }
  if (repoNamePattern.test(path)) return { name: path, onHub: true, revision, hash }
  return { name: basename(path), onHub: false, revision: null, hash }
}
