import type { EvaluationStatistics, PairedResult } from '../../../data/records/evaluation.ts'
import { nodeContracts, nodeIds, type NodeId } from '../../../data/records/node.ts'

/** A table for people; cells are text already. */
export interface Table {
  readonly id: string
  readonly title: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const nodeLabel = (node: NodeId | null): string => (node === null ? 'all' : `${node} ${nodeContracts[node].tag}`)

export const number = (value: number | null, digits = 3): string =>
  value === null ? '–' : value.toFixed(digits).replace('-', '−')
export const signed = (value: number): string => `${value > 0 ? '+' : ''}${number(value)}`
const chance = (p: number | null): string => (p === null ? '–' : p < 0.001 ? '<0.001' : p.toFixed(3))
const interval = ({ interval: range }: PairedResult): string =>
  range === null ? '–' : `${signed(range.low)} to ${signed(range.high)}`

const columns = [
  'prompts',
  'base',
  'trained',
  'change',
  '95 % interval',
  'up / same / down',
  'p',
  'smallest detectable',
]

const cells = (result: PairedResult): string[] => [
  result.leftOut === 0 ? String(result.prompts) : `${result.prompts} (${result.leftOut} left out)`,
  number(result.base),
  number(result.trained),
  signed(result.delta),
  interval(result),
  `${result.wins} / ${result.ties} / ${result.losses}`,
  chance(result.p),
  number(result.detectable),
]

export const measureLabel = (measure: string): string => measure.replace(/^component\//, '').replaceAll('_', ' ')

/** One measure, over all prompts and by node. */
export const byNode = (statistics: EvaluationStatistics, measure: string, title: string): Table => ({
  id: `${measure.replace('/', '-')}-by-node`,
  title,
  header: ['node', ...columns],
  rows: [null, ...nodeIds].flatMap((node) =>
    statistics.results
      .filter((one) => one.measure === measure && one.node === node && one.targetClass === null)
      .map((one) => [nodeLabel(node), ...cells(one)]),
  ),
})

const isComponent = ({ measure }: PairedResult): boolean => measure.startsWith('component/')

export const componentTable = ({ results }: EvaluationStatistics): Table => ({
  id: 'components',
  title: 'Mean contribution of each component to R, over all prompts',
  header: ['component', ...columns],
  rows: results
    .filter((one) => one.node === null && isComponent(one))
    .map((one) => [measureLabel(one.measure), ...cells(one)]),
})

export const componentByNodeTable = ({ results }: EvaluationStatistics): Table => ({
  id: 'components-by-node',
  title: 'Each component at each node; q is p adjusted over all of them (Benjamini-Hochberg)',
  header: ['node', 'component', ...columns, 'q'],
  rows: results
    .filter((one) => one.node !== null && isComponent(one))
    .map((one) => [nodeLabel(one.node), measureLabel(one.measure), ...cells(one), chance(one.q)]),
})

/** What no reward decides: everything that is neither reward, judge nor component, and classes of targets. */
export const taskTable = ({ results }: EvaluationStatistics): Table => ({
  id: 'task',
  title: 'What no reward decides: accuracy against the ground truth, calls for a human, form, length',
  header: ['node', 'class of target', 'measure', ...columns],
  rows: results
    .filter((one) => one.measure !== 'reward' && one.measure !== 'judge' && !isComponent(one))
    .map((one) => [nodeLabel(one.node), one.targetClass ?? 'all', measureLabel(one.measure), ...cells(one)]),
})

export const promptTable = ({ promptDeltas }: EvaluationStatistics): Table => ({
  id: 'prompts',
  title: 'Every prompt: mean R over its samples, sorted by change',
  header: ['prompt', 'node', 'base', 'trained', 'change'],
  rows: promptDeltas.map(({ promptId, node, base, trained, delta }) => [
    promptId,
    nodeLabel(node),
    number(base),
    number(trained),
    signed(delta),
  ]),
})
