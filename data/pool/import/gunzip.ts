import { gunzipSync } from 'node:zlib'
import { PipelineError } from '../../errors.ts'

/** Recordings shrink to a fiftieth at best; what shrank further was made to fill the memory. */
const mostRatio = 200
/** Small files may have any ratio. */
const always = 2 ** 26

/** Unpacks a gzip file. Throws a PipelineError of the pool for what is none, and for one that unpacks to far too much. */
export const gunzip = (bytes: Uint8Array, path: string): Buffer => {
  const most = Math.max(always, bytes.length * mostRatio)
  try {
    return gunzipSync(bytes, { maxOutputLength: most })
  } catch (cause) {
    const tooMuch = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    const what = tooMuch ? `unpacks to more than ${most} bytes` : 'not a whole gzip file'
    throw new PipelineError('pool', `${path}: ${what}`, {
      cause,
      remedy: 'Fetch the file again, or unpack it yourself.',
    })
  }
}
