import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PipelineError } from '../../data/errors.ts'
import { isRecord } from '../../data/json.ts'
import type { EvaluationSummary } from '../../data/records/run.ts'
import type { RewardsConfig } from '../../rewards/config.ts'
import type { Scorer } from '../../rewards/scorer.ts'

/** JSON with the keys of every object in order: equal values have equal text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )

/** What decides R beside the completion: profile, maxima and caps. */
export const rewardIdentity = (
  config: RewardsConfig,
  { names }: Pick<Scorer, 'names'>,
): EvaluationSummary['rewards'] => ({
  profile: config.profile,
  hash: createHash('sha256').update(canonical({ config, names })).digest('hex').slice(0, 16),
  maxima: Object.fromEntries(names.map((name) => [name, config.maxima[name]])),
})

export const adapterWeights = 'adapter_model.safetensors'

/** Hash of an adapter's weights: what tells one adapter from another wherever it lies. */
export const adapterHash = async (directory: string): Promise<string> => {
  const file = join(directory, adapterWeights)
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  } catch (error) {
    throw new PipelineError('checkpoint', `the adapter cannot be read: ${file}`, {
      remedy: 'The run was copied in part, or its worker writes elsewhere: its adapters/ must be here.',
      cause: error,
    })
  }
}
