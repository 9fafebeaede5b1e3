import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'

/** A file of JSON lines that takes its name only when it is whole. */
export interface LineFile {
  readonly write: (record: unknown) => Promise<void>
  /** Ends the file under its own name. */
  readonly close: () => Promise<void>
  /** Leaves nothing behind. */
  readonly discard: () => Promise<void>
}

/** Opens such a file for writing, line by line, in bounded memory. Missing directories are made. */
export const openLineFile = async (path: string): Promise<LineFile> => {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  const stream = createWriteStream(temporary)
  await once(stream, 'open')
  let failure: Error | null = null
  // A full disk is noticed between two lines too, when nobody waits for one.
  stream.on('error', (error) => (failure ??= error))
  const end = async (): Promise<void> => {
    stream.end()
    await finished(stream)
  }
  return {
    write: async (record) => {
      if (failure !== null) throw failure
      if (!stream.write(`${JSON.stringify(record)}\n`)) await once(stream, 'drain')
    },
    close: async () => {
      await end()
      await rename(temporary, path)
    },
    discard: async () => {
      await end().catch(() => undefined)
      await rm(temporary, { force: true })
    },
  }
}
