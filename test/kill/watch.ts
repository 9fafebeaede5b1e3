import { statSync, watch, type FSWatcher } from 'node:fs'
import { dirname } from 'node:path'

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** `from` and the directories below it that lead to a path. */
const directoriesTo = (path: string, from: string): string[] => {
  const directory = dirname(path)
  return directory.length <= from.length ? [from] : [...directoriesTo(directory, from), directory]
}

/**
 * Calls back whenever something changes beside a file or beside a directory that leads to it, from `from` on, which must
 * exist; the others need not. Nothing is polled. Gives the function that ends it.
 */
export const watchPath = (path: string, from: string, onChange: () => void): (() => void) => {
  const watchers = new Map<string, FSWatcher>()
  const forget = (directory: string): void => {
    watchers.get(directory)?.close()
    watchers.delete(directory)
  }
  const look = (): void => {
    for (const directory of directoriesTo(path, from)) {
      // One that is removed and made anew is watched anew.
      if (!isDirectory(directory)) forget(directory)
      else if (!watchers.has(directory))
        watchers.set(
          directory,
          watch(directory, look).on('error', () => forget(directory)),
        )
    }
    onChange()
  }
  look()
  return () => [...watchers.keys()].forEach(forget)
}
