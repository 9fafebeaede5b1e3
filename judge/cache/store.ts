import { existsSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { JudgeError } from '../judge.ts'
import { checkFile } from './file-check.ts'
import { decodeEntry, encodeEntry, type StoredVerdict } from './entry.ts'

type Table = RootDatabase<Buffer, Buffer>

/** The file of a cache directory that holds the verdicts. */
const dataFile = 'data.mdb'

const openTable = async (directory: string): Promise<Table> => {
  try {
    await mkdir(directory, { recursive: true })
    const file = join(directory, dataFile)
    if (existsSync(file)) await checkFile(file)
    // Loaded only where a disk tier is used: it is a native library.
    const { open } = await import('lmdb')
    return open<Buffer, Buffer>({
      path: directory,
      encoding: 'binary',
      keyEncoding: 'binary',
      noSubdir: false,
      // A write is acknowledged when it is on the disk, not only when other processes see it.
      overlappingSync: false,
    })
  } catch (error) {
    throw new JudgeError(`the verdict cache ${directory} cannot be opened: ${(error as Error).message}`, {
      remedy: 'Use another judge.cache.dir on a local disk, or move this one away.',
      cause: error,
    })
  }
}

/**
 * Verdicts on disk, in one LMDB file that any number of processes read and write at once. Reads are synchronous, from
 * mapped memory; a write is one transaction and is acknowledged after it. A process that dies in the middle of one leaves
 * the state before it.
 */
export class VerdictStore {
  readonly #table: Table
  readonly directory: string

  private constructor(table: Table, directory: string) {
    this.#table = table
    this.directory = directory
  }

  /** Opens the store of a directory; makes it where there is none. Rejects with a JudgeError. */
  static async open(directory: string): Promise<VerdictStore> {
    return new VerdictStore(await openTable(directory), directory)
  }

  /** True when the directory holds a store. */
  static exists(directory: string): boolean {
    return existsSync(join(directory, dataFile))
  }

  /** The verdict of a key; null when there is none, or its record is damaged. */
  get(key: string): StoredVerdict | null {
    const bytes = this.#table.get(Buffer.from(key, 'hex'))
    return bytes === undefined ? null : decodeEntry(key, bytes)
  }

  /**
   * Keeps a verdict unless there is a sound one already, from whichever process; resolves to the one that is kept, so that
   * everybody who asks one question works with one verdict.
   */
  async keep(key: string, verdict: StoredVerdict): Promise<StoredVerdict> {
    const binaryKey = Buffer.from(key, 'hex')
    let kept = verdict
    await this.#table.transaction(() => {
      const present = this.get(key)
      if (present === null) void this.#table.put(binaryKey, encodeEntry(key, verdict))
      else kept = present
    })
    return kept
  }

  /** All records in the order of their keys; verdict null: damaged. */
  *entries(): Generator<{ readonly key: string; readonly verdict: StoredVerdict | null }> {
    for (const { key, value } of this.#table.getRange()) {
      const name = Buffer.from(key).toString('hex')
      yield { key: name, verdict: decodeEntry(name, value) }
    }
  }

  get size(): number {
    const { entryCount } = this.#table.getStats() as { entryCount: number }
    return entryCount
  }
  get fileBytes(): number {
    return statSync(join(this.directory, dataFile)).size
  }

  /** Removes every verdict. The file keeps its size, and its room is used again. */
  async clear(): Promise<void> {
    await this.#table.clearAsync()
  }

  /** Waits for writes that are under way. */
  async close(): Promise<void> {
    await this.#table.close()
  }
}
