import type { EvaluationStatistics } from '../../data/records/evaluation.ts'
import { nodeIds } from '../../data/records/node.ts'
import type { EvaluationRow, EvaluationSummary } from '../../data/records/run.ts'
import type { RunReader } from './run-reader.ts'
import type { Headline } from './view.ts'

/** The last evaluation of a run says most, whatever came after it. */
const preferred = ['final', 'heldout']

const changeOf = (row: EvaluationRow | undefined): number | null => {
  const [base, trained] = [row?.base.reward ?? null, row?.trained.reward ?? null]
  return base === null || trained === null ? null : trained - base
}

/** Changes of the nodes, from the statistics where there are any. */
const worstOf = ({ nodes }: EvaluationSummary, statistics: EvaluationStatistics | null): Headline['worst'] => {
  const changes = nodeIds.flatMap((node) => {
    const paired = rewardOf(statistics, node)
    const delta = paired?.delta ?? changeOf(nodes[node])
    return delta === null ? [] : [{ node, delta }]
  })
  return changes.toSorted((a, b) => a.delta - b.delta)[0] ?? null
}

const rewardOf = (statistics: EvaluationStatistics | null, node: string | null) =>
  statistics?.results.find((one) => one.measure === 'reward' && one.node === node && one.targetClass === null)

/** What a run has come to on held-out prompts; null without an evaluation. */
export const headlineOf = async (
  reader: RunReader,
  evaluations: readonly EvaluationSummary[],
): Promise<Headline | null> => {
  const chosen = preferred.flatMap((name) => evaluations.filter((one) => one.name === name)).at(0) ?? evaluations.at(-1)
  if (chosen === undefined) return null
  const statistics = await reader.statistics(chosen)
  const paired = rewardOf(statistics, null)
  return {
    name: chosen.name,
    base: paired?.base ?? chosen.all.base.reward,
    trained: paired?.trained ?? chosen.all.trained.reward,
    delta: paired?.delta ?? changeOf(chosen.all),
    interval: paired?.interval ?? null,
    worst: worstOf(chosen, statistics),
  }
}
