import { existsSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PipelineError } from '../errors.ts'

interface Refusal {
  readonly text: string
  readonly remedy: string
}

const full: Refusal = {
  text: 'the disk is full',
  remedy: 'Free some space. What was written before is intact: a run continues with --resume.',
}
const forbidden: Refusal = {
  text: 'permission denied',
  remedy: 'Make the directory writable for this user, or choose another one. A run continues with --resume.',
}

/** What a file system says when it does not take a file, in the words of the user. Anything else is a fault of the program. */
const refusals: Readonly<Record<string, Refusal>> = {
  ENOSPC: full,
  EDQUOT: { ...full, text: 'the disk quota is used up' },
  EFBIG: {
    text: 'the file is larger than this process may write',
    remedy: 'Raise the limit (ulimit -f), then continue with --resume.',
  },
  EROFS: { ...forbidden, text: 'the file system is read-only' },
  EACCES: forbidden,
  EPERM: forbidden,
  EIO: { text: 'the disk reports an error', remedy: 'Look at the system log before you write to that disk again.' },
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

const size = (bytes: number): string => {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1)
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ''}`
}

const nearest = (path: string): string => (existsSync(path) || dirname(path) === path ? path : nearest(dirname(path)))

/** How much room there is where a path would be: ` (3.0 MiB of 1.0 GiB are free)`. */
const room = async (path: string): Promise<string> => {
  try {
    const { bavail, blocks, bsize } = await statfs(nearest(path))
    return ` (${size(bavail * bsize)} of ${size(blocks * bsize)} are free)`
  } catch {
    // Said beside the failure itself, where it is known.
    return ''
  }
}

/** The same error, or, of a refusal of the file system, a PipelineError that says what, where, how much room, what to do. */
export const storageError = async (path: string, error: unknown): Promise<unknown> => {
  const { code = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  const refusal = refusals[code]
  if (refusal === undefined) return error
  return new PipelineError('storage', `cannot write ${path}: ${refusal.text}${await room(path)}`, {
    remedy: refusal.remedy,
    cause: error,
  })
}

/** Does what writes to a path. Throws a PipelineError of the boundary `storage` where the file system refuses. */
export const storing = async <T>(path: string, action: () => Promise<T>): Promise<T> => {
  try {
    return await action()
  } catch (error) {
    throw await storageError(path, error)
  }
}

/** The first part of a path that is not there. */
const topmostMissing = (path: string): string => (existsSync(dirname(path)) ? path : topmostMissing(dirname(path)))

/** Makes a directory and what is missing above it. Throws a PipelineError of the boundary `storage` where the file system refuses. */
export const makeDirectory = (path: string): Promise<void> =>
  storing(path, async () => {
    try {
      await mkdir(path, { recursive: true })
    } catch (error) {
      // Node says that there is no such file where the file system is read-only; asked for one directory it tells the reason.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') await mkdir(topmostMissing(path))
      throw error
    }
  })
