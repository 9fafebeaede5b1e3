import { randomBytes } from 'node:crypto'
import { open, rename, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeDirectory, storing } from './storage.ts'

const unsupported = new Set<unknown>(['EINVAL', 'ENOTSUP', 'EPERM'])
const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && unsupported.has(error.code)

/** Makes a rename durable. Some file systems cannot sync a directory; there the rename itself is all one gets. */
const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (!isUnsupported(error)) throw error
  } finally {
    await handle.close()
  }
}

export type Content = string | Uint8Array | Iterable<string>

const replace = async (path: string, content: Content, durable: boolean): Promise<void> => {
  const directory = dirname(path)
  await makeDirectory(directory)
  const temporary = join(directory, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx')
    try {
      await writeFile(handle, content)
      if (durable) await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
  if (durable) await syncDirectory(directory)
}

/**
 * Writes a file so that a reader sees the old content or the new one, never a part: temporary file in the same
 * directory, fsync, rename. Makes missing directories. Chunks are written in order and may be lazy. Throws a PipelineError
 * of the boundary `storage` where the file system refuses.
 */
export const writeFileAtomic = (path: string, content: Content): Promise<void> =>
  storing(path, () => replace(path, content, true))

/** The same without waiting for the disk: a process that dies leaves the old content or the new one, a power cut neither for sure. */
export const writeFileWhole = (path: string, content: Content): Promise<void> =>
  storing(path, () => replace(path, content, false))

/** Writes one JSON value, indented, with a final line feed. Throws a TypeError for what JSON cannot hold at the top level. */
export const writeJsonAtomic = async (path: string, value: unknown): Promise<void> => {
  const text = JSON.stringify(value, null, 2) as string | undefined
  if (text === undefined) throw new TypeError(`${path}: this value has no JSON form`)
  await writeFileAtomic(path, `${text}\n`)
}
