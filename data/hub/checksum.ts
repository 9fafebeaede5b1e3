import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** What a file's content must be: its size, and the hash that the hub names it by. */
export interface Fingerprint {
  readonly size: number
  /** sha256 of the content (large files), or git's sha1 of a blob (small ones): their length tells. */
  readonly hash: string
}

/** A hash that yields the fingerprint's, once the whole content went through. */
export const hashFor = ({ size, hash }: Fingerprint): Hash =>
  hash.length === 64 ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`)

/** Is this the file? False where there is none. */
export const matches = async (path: string, fingerprint: Fingerprint): Promise<boolean> => {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null || found.size !== fingerprint.size) return false
  const hash = hashFor(fingerprint)
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex') === fingerprint.hash
}

/** A cached blob is named by its hash; only its size has to be looked up. */
export const isIntact = async (path: string, hash: string): Promise<boolean> => {
  const { size } = await stat(path)
  return await matches(path, { size, hash })
}
