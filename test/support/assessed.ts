import type { NodeId } from '../../data/records/node.ts'
import type { Score } from '../../data/records/reward.ts'
import type { Completion } from '../../data/records/rollout.ts'
import type { AssessedGroup } from '../../trainer/score.ts'

/** A score from weighted contributions; null: unscored. */
export const scoreOf = (parts: Record<string, number> | null): Score =>
  parts === null
    ? { kind: 'unscored', component: 'judge', reason: 'no verdict' }
    : {
        kind: 'scored',
        total: Object.values(parts).reduce((sum, value) => sum + value, 0),
        components: Object.fromEntries(
          Object.entries(parts).map(([name, weighted]) => [name, { raw: weighted, weight: 1, weighted, detail: '' }]),
        ),
      }

const completion = (index: number, length: number, finishReason: Completion['finishReason'] = 'stop'): Completion => ({
  index,
  text: 'x',
  tokenIds: Array.from({ length }, (_, i) => 10 + i),
  logprobs: Array.from({ length }, () => -1),
  finishReason,
})

/** A group with the given contributions; completion i has i + 1 tokens, the last one is cut at the limit. */
export const assessed = (
  promptId: string,
  node: NodeId,
  scores: readonly (Record<string, number> | null)[],
): AssessedGroup => ({
  group: {
    promptId,
    node,
    step: 0,
    policyVersion: 0,
    policyName: 'base',
    seed: 0,
    promptTokenIds: [1, 2],
    completions: scores.map((_, i) => completion(i, i + 1, i === scores.length - 1 ? 'length' : 'stop')),
  },
  assessments: scores.map((parts) => ({
    score: scoreOf(parts),
    verdict: parts === null ? null : { score: 0.5, reason: '', model: 'm', cached: true, latencyMs: 1 },
  })),
})
