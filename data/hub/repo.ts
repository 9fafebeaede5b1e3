/** What a repository of the hub holds. */
export type RepoKind = 'model' | 'dataset'

/** A repository by its full name. */
export interface RepoName {
  readonly type: RepoKind
  /** owner/name */
  readonly name: string
}

/** The hub's own rule: letters, digits, `-`, `_` and `.`; no `..` or `--`, not at either end; 96 characters at most. */
const part = String.raw`(?!.*(?:\.\.|--))[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9_])?`
export const repoNamePattern = new RegExp(`^${part}/${part}$`)

/** Path of a repository below the hub's address. */
export const repoPath = ({ type, name }: RepoName): string => (type === 'dataset' ? `datasets/${name}` : name)
