import { mkdir, readdir, readFile, realpath, symlink, unlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { writeFileAtomic } from '../store/atomic.ts'
import { isIntact } from './checksum.ts'
import type { RepoName } from './repo.ts'

/** One repository in the cache, laid out as all clients of the hub do: blobs by hash, snapshots of links to them, refs. */
export class RepoCache {
  readonly #root: string

  constructor(cacheDir: string, { type, name }: RepoName) {
    this.#root = join(cacheDir, `${type}s--${name.replaceAll('/', '--')}`)
  }

  blob(hash: string): string {
    return join(this.#root, 'blobs', hash)
  }
  snapshot(commit: string): string {
    return join(this.#root, 'snapshots', commit)
  }

  /** The commit that a revision was when it was last fetched; null where it never was. A commit is its own. */
  async commitOf(revision: string): Promise<string | null> {
    if (/^[0-9a-f]{40}$/.test(revision)) return revision
    try {
      return (await readFile(join(this.#root, 'refs', revision), 'utf8')).trim()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  async remember(revision: string, commit: string): Promise<void> {
    if (revision !== commit) await writeFileAtomic(join(this.#root, 'refs', revision), commit)
  }

  /** Puts a file of a snapshot where it belongs: a link to its blob, as relative as the cache can be moved. */
  async link(commit: string, path: string, hash: string): Promise<void> {
    const place = join(this.snapshot(commit), path)
    await mkdir(dirname(place), { recursive: true })
    await unlink(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    await symlink(relative(dirname(place), this.blob(hash)), place)
  }

  /** Files of a snapshot that are damaged: their content is not what their blob's name says. */
  async damaged(commit: string): Promise<string[]> {
    const names = await readdir(this.snapshot(commit), { recursive: true, withFileTypes: true })
    const links = names.filter((entry) => entry.isSymbolicLink()).map((entry) => join(entry.parentPath, entry.name))
    const bad = await Promise.all(
      links.map(async (path) => {
        const blob = await realpath(path).catch(() => null)
        return blob !== null && (await isIntact(blob, basename(blob))) ? [] : [relative(this.snapshot(commit), path)]
      }),
    )
    return bad.flat()
  }
}
