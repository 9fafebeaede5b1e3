import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile } from '../store/json-file.ts'
import type { HubAccess } from './access.ts'
import { fetchSnapshot, probeSnapshot, type SnapshotRequest } from './snapshot.ts'

export interface ModelRequest extends HubAccess {
  /** owner/name */
  readonly repo: string
  /** Branch, tag or commit. */
  readonly revision: string
}

/** What transformers and vLLM read. Other frameworks' copies of the weights would double the download. */
const isWanted = (path: string): boolean =>
  !path.includes('/') && /\.(safetensors|json|txt|model|jinja|tiktoken)$/.test(path)

const Index = z.object({ weight_map: z.record(z.string(), z.string()) })

const isComplete = async (directory: string): Promise<boolean> => {
  if (!existsSync(join(directory, 'config.json'))) return false
  const index = join(directory, 'model.safetensors.index.json')
  const shards = await readJsonFile(index, Index, {
    boundary: 'setup',
    remedy: `Delete ${directory}, and fetch it again.`,
  })
  if (shards === null) return (await readdir(directory)).some((name) => name.endsWith('.safetensors'))
  return Object.values(shards.weight_map).every((name) => existsSync(join(directory, name)))
}

const snapshotOf = ({ repo, ...request }: ModelRequest): SnapshotRequest => ({
  ...request,
  repo: { type: 'model', name: repo },
  isWanted,
  isComplete,
})

/** Whether a model can be had: in the cache, or from the hub; rejects with what stands in the way. */
export const probeModel = (request: ModelRequest): Promise<'cached' | 'on the hub'> =>
  probeSnapshot(snapshotOf(request))

/** The directory of a hub model at a revision (see fetchSnapshot). */
export const fetchModel = (request: ModelRequest): Promise<string> => fetchSnapshot(snapshotOf(request))
