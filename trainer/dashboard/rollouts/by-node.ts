import { nodeIds, type NodeId } from '../../../data/records/node.ts'
import { quantile } from '../../../data/statistics.ts'
import type { NodeSummary } from '../view.ts'
import { finishReasons } from './columns.ts'
import type { RolloutIndex } from './index-run.ts'
import { readRows } from './rows.ts'

/** Best and worst completions are taken from so many of the latest steps. */
export const recentSteps = 20

const levels = [0.1, 0.25, 0.5, 0.75, 0.9] as const

interface StepRows {
  readonly totals: number[]
  groups: number
  dead: number
  truncated: number
  tokens: number
  completions: number
}

const lengthReason = finishReasons.indexOf('length')

const addRow = (own: StepRows, { columns }: RolloutIndex, row: number): void => {
  const total = columns.of.total.data[row] ?? Number.NaN
  if (!Number.isNaN(total)) own.totals.push(total)
  if (columns.of.sample.data[row] === 0) {
    own.groups++
    own.dead += columns.of.dead.data[row] ?? 0
  }
  own.completions++
  own.tokens += columns.of.tokens.data[row] ?? 0
  if (columns.of.finish.data[row] === lengthReason) own.truncated++
}

const collect = (index: RolloutIndex): Map<NodeId, Map<number, StepRows>> => {
  const { columns } = index
  const nodes = new Map<NodeId, Map<number, StepRows>>(nodeIds.map((node) => [node, new Map()]))
  for (let row = 0; row < columns.count; row++) {
    if (!index.isLive(row)) continue
    const steps = nodes.get(columns.nodeOf(row))
    const step = columns.of.step.data[row] ?? 0
    const own = steps?.get(step) ?? { totals: [], groups: 0, dead: 0, truncated: 0, tokens: 0, completions: 0 }
    steps?.set(step, own)
    addRow(own, index, row)
  }
  return nodes
}

const quantilesOf = (totals: readonly number[]): number[] => {
  const sorted = Float64Array.from(totals).toSorted()
  // Four decimals are more than a picture shows, and a third of what would be sent.
  return sorted.length === 0 ? [] : levels.map((level) => Number(quantile(sorted, level).toFixed(4)))
}

/** Latest steps of the run: from, to. */
export const recentOf = (index: RolloutIndex): readonly [number, number] | null => {
  const steps = index.steps()
  return steps === null ? null : [Math.max(0, steps[1] - recentSteps + 1), steps[1]]
}

/** Best and worst rows of a node among recent steps; of equal completions one is enough. */
const extremes = (index: RolloutIndex, node: NodeId, [from, to]: readonly [number, number]) => {
  const { columns } = index
  const number = nodeIds.indexOf(node)
  const rows: number[] = []
  for (let row = 0; row < columns.count; row++) {
    const step = columns.of.step.data[row] ?? 0
    if (columns.of.node.data[row] !== number || step < from || step > to || !index.isLive(row)) continue
    if (!Number.isNaN(columns.of.total.data[row] ?? Number.NaN)) rows.push(row)
  }
  const total = columns.of.total.data
  rows.sort(
    (a, b) => (total[b] ?? 0) - (total[a] ?? 0) || (columns.of.step.data[b] ?? 0) - (columns.of.step.data[a] ?? 0),
  )
  const distinct = (list: readonly number[]): number[] => {
    const seen = new Set<number>()
    return list.filter((row) => {
      const prompt = columns.of.prompt.data[row] ?? 0
      return seen.has(prompt) ? false : (seen.add(prompt), true)
    })
  }
  return { best: distinct(rows).slice(0, 5), worst: distinct(rows.toReversed()).slice(0, 5) }
}

/** How each node does, step by step, from its completions. */
export const summariseNodes = async (index: RolloutIndex): Promise<NodeSummary[]> => {
  const recent = recentOf(index)
  const collected = collect(index)
  return Promise.all(
    nodeIds.map(async (node): Promise<NodeSummary> => {
      const byStep = [...(collected.get(node) ?? [])].toSorted(([a], [b]) => a - b)
      const { best, worst } = recent === null ? { best: [], worst: [] } : extremes(index, node, recent)
      return {
        node,
        steps: byStep.map(([step]) => step),
        quantiles: byStep.map(([, { totals }]) => quantilesOf(totals)),
        groups: byStep.map(([, { groups }]) => groups),
        dead: byStep.map(([, { dead }]) => dead),
        truncated: byStep.map(([, { truncated }]) => truncated),
        meanTokens: byStep.map(([, { tokens, completions }]) => Number((tokens / completions).toFixed(2))),
        completions: byStep.map(([, { completions }]) => completions),
        best: await readRows(index, best),
        worst: await readRows(index, worst),
        recent,
      }
    }),
  )
}
