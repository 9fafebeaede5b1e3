import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PipelineError } from '../errors.ts'
import type { ModelRequest } from './model.ts'
import { fetchSnapshot, probeSnapshot, type SnapshotRequest } from './snapshot.ts'

/** Name of a pool's file, in a directory and in a dataset of the hub. */
export const poolFile = 'pool.jsonl'

const snapshotOf = ({ repo, ...request }: ModelRequest): SnapshotRequest => ({
  ...request,
  repo: { type: 'dataset', name: repo },
  isWanted: (path) => path === poolFile,
  isComplete: (directory) => Promise.resolve(existsSync(join(directory, poolFile))),
})

/** Whether a pool can be had: in the cache, or from the hub; rejects with what stands in the way. */
export const probePool = (request: ModelRequest): Promise<'cached' | 'on the hub'> => probeSnapshot(snapshotOf(request))

/** The file of a pool that is a dataset of the hub, at a revision (see fetchSnapshot). */
export const fetchPool = async (request: ModelRequest): Promise<string> => {
  const file = join(await fetchSnapshot(snapshotOf(request)), poolFile)
  if (existsSync(file)) return file
  throw new PipelineError('pool', `the dataset ${request.repo}@${request.revision} has no ${poolFile}`, {
    remedy: 'Name a dataset that drift-grpo push --pool made, or one of the same form.',
  })
}
