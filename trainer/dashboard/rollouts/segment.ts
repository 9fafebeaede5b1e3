import { z } from 'zod'
import { columnKinds, columnNames, type Column, type ColumnName, type RowBlock } from './columns.ts'

/** Raised with every change of what a segment holds: older ones are then read from the rollouts anew. */
const format = 'drift-grpo dashboard index 2'

/** A file of rollouts as it was when it was read. */
export const IndexedFile = z.strictObject({
  name: z.string().regex(/^step-\d+\.jsonl$/),
  size: z.int().min(0),
  modified: z.number(),
  /** Tells a copied file, whose time differs, from a replaced one. */
  print: z.string(),
  rows: z.int().min(0),
  unreadable: z.int().min(0),
  /** Bytes of its texts. */
  textBytes: z.int().min(0),
})
export type IndexedFile = z.infer<typeof IndexedFile>

const Header = z.strictObject({
  format: z.literal(format),
  files: z.array(IndexedFile),
  rows: z.int().min(0),
  prompts: z.array(z.string()),
  components: z.array(z.string()),
  sumError: z.number(),
})
type Header = z.infer<typeof Header>

const alignment = 8
const padded = (bytes: number): number => Math.ceil(bytes / alignment) * alignment

/** Bytes of the columns of so many rows. */
const columnBytes = (rows: number, components: number): number =>
  columnNames.reduce((sum, name) => sum + padded(rows * columnKinds[name].BYTES_PER_ELEMENT), 0) +
  components * padded(rows * Float32Array.BYTES_PER_ELEMENT)

/** What precedes the texts: a length, the header as JSON, the columns. */
export const encodeSegment = (files: readonly IndexedFile[], block: RowBlock): Buffer => {
  const { rows, prompts, components, sumError } = block
  const header: Header = {
    format,
    files: [...files],
    rows,
    prompts: [...prompts],
    components: [...components],
    sumError,
  }
  const json = Buffer.from(JSON.stringify(header))
  const start = padded(4 + json.length)
  const bytes = Buffer.alloc(start + columnBytes(rows, components.length))
  bytes.writeUInt32LE(json.length, 0)
  json.copy(bytes, 4)
  let at = start
  for (const data of [...columnNames.map((name) => block.columns[name]), ...block.weighted]) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += padded(data.byteLength)
  }
  return bytes
}

export interface DecodedSegment {
  readonly files: readonly IndexedFile[]
  readonly block: RowBlock
  /** Where the texts begin. */
  readonly textOffset: number
}

/** How many bytes of a segment precede its texts; null where it is none of this version. Needs the first 4 bytes and the header. */
const readHeader = (bytes: Buffer): { header: Header; start: number } | null => {
  const length = bytes.length < 4 ? 0 : bytes.readUInt32LE(0)
  try {
    const header = Header.safeParse(JSON.parse(bytes.toString('utf8', 4, 4 + length)))
    return header.success ? { header: header.data, start: padded(4 + length) } : null
  } catch {
    return null
  }
}

/** Reads a segment back; null where it is damaged, or of another version. `size` is that of the whole file. */
export const decodeSegment = async (
  read: (from: number, length: number) => Promise<Buffer>,
  size: number,
): Promise<DecodedSegment | null> => {
  const length = (await read(0, 4)).readUInt32LE(0)
  if (length > size) return null
  const found = readHeader(await read(0, 4 + length))
  if (found === null) return null
  const { header, start } = found
  const { files, rows, prompts, components, sumError } = header
  const textOffset = start + columnBytes(rows, components.length)
  const texts = files.reduce((sum, { textBytes }) => sum + textBytes, 0)
  const isWhole = files.reduce((sum, file) => sum + file.rows, 0) === rows && textOffset + texts === size
  if (!isWhole) return null
  const bytes = await read(start, textOffset - start)
  const memory = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  let at = 0
  const take = <C extends Column>(Kind: new (buffer: ArrayBuffer, offset: number, length: number) => C): C => {
    const column = new Kind(memory as ArrayBuffer, at, rows)
    at += padded(column.byteLength)
    return column
  }
  const columns = Object.fromEntries(columnNames.map((name) => [name, take<Column>(columnKinds[name])])) as unknown as {
    [N in ColumnName]: Column
  }
  const weighted = components.map(() => take(Float32Array))
  return { files, block: { rows, prompts, components, sumError, columns, weighted }, textOffset }
}
