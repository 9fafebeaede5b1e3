import type { RolloutGroup } from '../data/records/rollout.ts'
import type { Assessment, Scorer } from '../rewards/scorer.ts'
import type { BoundPrompt } from './bind-pool.ts'

/** A group with what was concluded about each of its completions, by completion index. */
export interface AssessedGroup {
  readonly group: RolloutGroup
  readonly assessments: readonly Assessment[]
}

/** A completion that the sampler gave up on says nothing about the policy. */
const aborted: Assessment = {
  score: { kind: 'unscored', component: 'sampler', reason: 'the sampler aborted this completion' },
  verdict: null,
}

/** Scores all completions of a group side by side; each keeps its index. One that cannot be scored is unscored, with a reason. */
export const scoreGroup = async (
  scorer: Scorer,
  { prompt }: BoundPrompt,
  group: RolloutGroup,
): Promise<AssessedGroup> => {
  const assessments = await Promise.all(
    group.completions.map(async ({ text, finishReason }) =>
      finishReason === 'abort' ? aborted : await scorer.assess(prompt, text),
    ),
  )
  return { group, assessments }
}
