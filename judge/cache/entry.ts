import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { parseJson } from '../../data/json.ts'
import { NodeId } from '../../data/records/node.ts'

/** One verdict as it is kept. */
export const StoredVerdict = z.strictObject({
  score: z.number().min(0).max(1),
  reason: z.string(),
  model: z.string(),
  /** Identity of frame and rubrics together. */
  rubrics: z.string(),
  node: NodeId,
  promptId: z.string(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  /** When it was given; ISO 8601, UTC. */
  at: z.iso.datetime(),
})
export type StoredVerdict = z.infer<typeof StoredVerdict>

const VERSION = 1
const HEADER_BYTES = 5

const checksum = (key: string, body: Buffer): number => crc32(body, crc32(key))

/** Bytes of one entry: version, checksum over key and body, body. The checksum ties a verdict to its key. */
export const encodeEntry = (key: string, verdict: StoredVerdict): Buffer => {
  const body = Buffer.from(JSON.stringify(verdict))
  const bytes = Buffer.alloc(HEADER_BYTES + body.length)
  bytes.writeUInt8(VERSION, 0)
  bytes.writeUInt32LE(checksum(key, body), 1)
  body.copy(bytes, HEADER_BYTES)
  return bytes
}

/** The entry that bytes hold under a key; null when they are damaged, foreign, or belong to another key. */
export const decodeEntry = (key: string, bytes: Buffer): StoredVerdict | null => {
  if (bytes.length < HEADER_BYTES || bytes.readUInt8(0) !== VERSION) return null
  const body = bytes.subarray(HEADER_BYTES)
  if (bytes.readUInt32LE(1) !== checksum(key, body)) return null
  const read = StoredVerdict.safeParse(parseJson(body.toString('utf8')))
  return read.success ? read.data : null
}
