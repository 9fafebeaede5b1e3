import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

const entriesOf = async (path: string): Promise<Dirent[]> =>
  readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

/** Names of all that is in a directory; none where it is missing. */
export const namesIn = async (path: string): Promise<string[]> => (await entriesOf(path)).map(({ name }) => name)

/** Names of the directories in a directory, in order; none where it is missing. */
export const foldersOf = async (path: string): Promise<string[]> =>
  (await entriesOf(path))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
