import type { GroupAdvantages } from '../data/records/advantage.ts'
import type { RolloutGroup } from '../data/records/rollout.ts'
import type { LossConfig, UpdateBatch } from '../data/records/update.ts'
import type { GrpoSection, ModelSection } from './config.ts'

/** The part of the config that the worker's loss needs, with derived numbers filled in. */
export const lossConfig = (grpo: GrpoSection, model: Pick<ModelSection, 'maxCompletionTokens'>): LossConfig => ({
  beta: grpo.beta,
  clipLow: grpo.clipLow,
  clipHigh: grpo.clipHigh,
  kl: grpo.kl,
  normalization: grpo.normalization,
  fixedLength: grpo.fixedLength ?? model.maxCompletionTokens,
  importanceBounds: grpo.importanceBounds,
})

/** What is the same for every batch of one step. */
export type BatchHeader = Omit<UpdateBatch, 'groups'>

const withAdvantage = (group: RolloutGroup, { advantages }: GroupAdvantages): UpdateBatch['groups'][number] => ({
  promptTokenIds: group.promptTokenIds,
  completions: group.completions.flatMap(({ index, tokenIds, logprobs }) => {
    const advantage = advantages[index]
    return advantage === null || advantage === undefined ? [] : [{ tokenIds, advantage, samplerLogprobs: logprobs }]
  }),
})

/**
 * Joins groups with their advantages (same order) into one optimizer step. Skipped groups and unscored completions
 * are left out. Null when nothing is left to learn from.
 */
export const packBatch = (
  header: BatchHeader,
  groups: readonly RolloutGroup[],
  advantages: readonly GroupAdvantages[],
): UpdateBatch | null => {
  const packed = groups.flatMap((group, i) => {
    const own = advantages[i]
    if (own?.promptId !== group.promptId)
      throw new Error(`advantages of ${own?.promptId ?? 'nothing'} at the place of group ${group.promptId}`)
    return own.skipped === null ? [withAdvantage(group, own)] : []
  })
  return packed.length === 0 ? null : { ...header, groups: packed }
}
