import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RowBlock } from './columns.ts'
import { decodeSegment, encodeSegment, type DecodedSegment, type IndexedFile } from './segment.ts'

/** Where a run keeps what the dashboard made of its rollouts. It can be deleted at any time. */
export const indexFolder = '.dashboard'

const segmentName = /^rollouts-[0-9a-f]{24}\.index$/

/** Reads `length` bytes of a file at `from`. */
export const readBytes = async (path: string, from: number, length: number, into?: Buffer): Promise<Buffer> => {
  const bytes = into === undefined ? Buffer.allocUnsafe(length) : into.subarray(0, length)
  const handle = await open(path, 'r')
  try {
    const { bytesRead } = await handle.read(bytes, 0, length, from)
    return bytes.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

export interface StoredSegment extends DecodedSegment {
  readonly path: string
}

/**
 * Segments of the index beside the run. A segment is written once under the name of its content, so that two dashboards over
 * one run write the same file, and never half of one.
 */
export class SegmentStore {
  readonly #folder: string
  /** False once writing has failed: a run that may only be read is indexed in memory. */
  isWritable = true

  constructor(root: string) {
    this.#folder = join(root, indexFolder)
  }

  /** All segments that can be read. One of another version, or damaged, is removed: it would never be read again. */
  async load(): Promise<StoredSegment[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const loaded: StoredSegment[] = []
    for (const name of names.filter((one) => segmentName.test(one))) {
      const path = join(this.#folder, name)
      // What cannot be read is as good as absent: the rollouts are read instead.
      const segment = await this.#read(path).catch(() => undefined)
      if (segment === null) await this.remove([path])
      else if (segment !== undefined) loaded.push({ ...segment, path })
    }
    return loaded
  }

  async #read(path: string): Promise<DecodedSegment | null> {
    const handle = await open(path, 'r')
    try {
      const { size } = await handle.stat()
      const read = async (from: number, length: number): Promise<Buffer> => {
        const bytes = Buffer.allocUnsafeSlow(length)
        await handle.read(bytes, 0, length, from)
        return bytes
      }
      return size < 4 ? null : await decodeSegment(read, size)
    } finally {
      await handle.close()
    }
  }

  /** Removes segments of rollouts that are gone; one that cannot be removed stays, and is no harm. */
  async remove(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map((path) => rm(path, { force: true }).catch(() => undefined)))
  }

  /** Writes a segment; null where the run cannot be written to. */
  async save(
    files: readonly IndexedFile[],
    block: RowBlock,
    texts: readonly Buffer[],
  ): Promise<Pick<StoredSegment, 'path' | 'textOffset'> | null> {
    const head = encodeSegment(files, block)
    const name = `rollouts-${createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 24)}.index`
    const path = join(this.#folder, name)
    const own = `${path}.${process.pid}.tmp`
    try {
      await mkdir(this.#folder, { recursive: true })
      await writeFile(own, [head, ...texts])
      await rename(own, path)
      return { path, textOffset: head.length }
    } catch {
      this.isWritable = false
      await rm(own, { force: true }).catch(() => undefined)
      return null
    }
  }
}
