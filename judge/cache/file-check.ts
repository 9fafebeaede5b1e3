import { open, type FileHandle } from 'node:fs/promises'

/** LMDB's own layout, on 64-bit little-endian machines: two meta pages, each with a header, then these fields. */
const metaMagic = { at: 24, value: 0xbeefc0de }
const pageSizeAt = 48
const lastPageAt = 144
const transactionAt = 152
const metaBytes = 160

interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: bigint
}

const readMeta = async (file: FileHandle, position: number): Promise<Meta | null> => {
  const bytes = Buffer.alloc(metaBytes)
  const { bytesRead } = await file.read(bytes, 0, metaBytes, position)
  if (bytesRead < metaBytes || bytes.readUInt32LE(metaMagic.at) !== metaMagic.value) return null
  return {
    pageSize: bytes.readUInt32LE(pageSizeAt),
    lastPage: Number(bytes.readBigUInt64LE(lastPageAt)),
    transaction: bytes.readBigUInt64LE(transactionAt),
  }
}

/**
 * Looks at a database file before LMDB maps it, because LMDB ends the whole process over a foreign file or one that was cut
 * off (a copy that did not complete, a full disk). Throws on such a one. A new, empty file is fine.
 */
export const checkFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r')
  try {
    if ((await file.stat()).size === 0) return
    const first = await readMeta(file, 0)
    const second = first === null ? null : await readMeta(file, first.pageSize)
    if (first === null || second === null) throw new Error(`${path} is not a verdict cache`)
    const newest = first.transaction > second.transaction ? first : second
    const needed = (newest.lastPage + 1) * newest.pageSize
    // Looked up last: another process grows the file before its meta page says so.
    const { size } = await file.stat()
    if (size < needed) throw new Error(`${path} was cut off: it has ${size} of ${needed} bytes`)
  } finally {
    await file.close()
  }
}
