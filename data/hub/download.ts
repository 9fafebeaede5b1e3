import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { downloadFile } from '@huggingface/hub'
import { PipelineError } from '../errors.ts'
import { access, type HubAccess } from './access.ts'
import { hashFor } from './checksum.ts'
import type { RemoteFile } from './remote-file.ts'
import type { RepoName } from './repo.ts'

const secondsBetweenNews = 10

export const gb = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e8 ? 3 : 1)} GB`

/** Streams a file to its blob; a content that is not what the hub announced is never put there. */
export const download = async (
  request: HubAccess & { readonly repo: RepoName; readonly commit: string },
  file: RemoteFile,
  blob: string,
): Promise<void> => {
  const { repo, commit, signal, onProgress } = request
  const what = `${repo.name}/${file.path}`
  onProgress?.(`fetching ${what}, ${gb(file.size)}`)
  const content = await downloadFile({ ...access(request), repo: { ...repo }, path: file.path, revision: commit })
  if (content === null) throw new PipelineError('setup', `${repo.name} has no ${file.path} at ${commit}`)
  await mkdir(dirname(blob), { recursive: true })
  const partial = `${blob}.${process.pid}.incomplete`
  const hash = hashFor(file)
  let [received, lastNews] = [0, performance.now()]
  const count = async function* (source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      hash.update(chunk)
      received += chunk.length
      if (performance.now() - lastNews > secondsBetweenNews * 1000) {
        lastNews = performance.now()
        onProgress?.(`fetching ${what}: ${gb(received)} of ${gb(file.size)}`)
      }
      yield chunk
    }
  }
  try {
    const source = Readable.fromWeb(content.stream() as ReadableStream)
    await pipeline(source, count, createWriteStream(partial), ...(signal === undefined ? [] : [{ signal }]))
    if (received !== file.size || hash.digest('hex') !== file.hash) {
      throw new PipelineError('setup', `${what} arrived damaged: its checksum is not the hub’s`, {
        remedy: 'Start again; if it stays so, a proxy in between changes files.',
        retryable: true,
      })
    }
    await rename(partial, blob)
  } finally {
    await rm(partial, { force: true })
  }
}
