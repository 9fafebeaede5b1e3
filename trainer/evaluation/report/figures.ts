import type { EvaluationStatistics, PairedResult } from '../../../data/records/evaluation.ts'
import { nodeIds } from '../../../data/records/node.ts'
import type { EvaluationSummary } from '../../../data/records/run.ts'
import { barChart, type BarPair } from './bars.ts'
import { binDeltas, deltaCurve, deltaHistogram } from './deltas.ts'
import { byNode, componentTable, measureLabel, nodeLabel, number, promptTable, signed, type Table } from './tables.ts'

/** A chart with the sentence and the table that say the same. */
export interface Figure {
  readonly id: string
  readonly title: string
  readonly caption: string
  readonly svg: string
  readonly table: Table
}

type Source = { readonly summary: EvaluationSummary; readonly statistics: EvaluationStatistics }

const resultsOf = ({ results }: EvaluationStatistics, measure: string): PairedResult[] =>
  results.filter((one) => one.measure === measure && one.targetClass === null)

const pairOf = (result: PairedResult, label: string): BarPair => ({
  label,
  base: result.base,
  trained: result.trained,
})

const intervalText = ({ interval }: PairedResult): string =>
  interval === null ? '' : ` (95 % interval ${signed(interval.low)} to ${signed(interval.high)})`

const changeText = (result: PairedResult): string =>
  `${number(result.base)} → ${number(result.trained)}, ${signed(result.delta)}${intervalText(result)}`

/** R can fall below 0 through a component with a floor: the axis must show it. */
const rewardRange = (results: readonly PairedResult[], maximum: number): readonly [number, number] => [
  Math.min(0, ...results.flatMap(({ base, trained }) => [base, trained])),
  maximum,
]

const globalReward = ({ summary, statistics }: Source): Figure[] => {
  const overall = resultsOf(statistics, 'reward').filter(({ node }) => node === null)
  return overall.map((result) => {
    const id = 'global-reward'
    const title = 'Global reward, base and trained'
    const caption = `Mean R over ${result.prompts} prompts: ${changeText(result)}; at most ${summary.rewardMaximum.toFixed(2)}.`
    const range = rewardRange(overall, summary.rewardMaximum)
    const words = { id, title, description: caption, axis: `mean R (at most ${summary.rewardMaximum.toFixed(2)})` }
    const svg = barChart({ ...words, range, pairs: [pairOf(result, 'all prompts')] })
    return { id, title, caption, svg, table: byNode(statistics, 'reward', 'Mean R over all prompts and by node') }
  })
}

const perNode = (
  { statistics }: Source,
  measure: string,
  words: { readonly id: string; readonly title: string; readonly axis: string; readonly maximum: number },
): Figure[] => {
  const results = resultsOf(statistics, measure).filter(({ node }) => node !== null)
  if (results.length === 0) return []
  const pairs = results.map((result) => pairOf(result, nodeLabel(result.node)))
  const caption = `${results.map((result) => `${result.node}: ${changeText(result)}`).join('; ')}.`
  const { id, title, axis, maximum } = words
  const svg = barChart({ id, title, description: caption, axis, pairs, range: rewardRange(results, maximum) })
  return [{ id, title, caption, svg, table: byNode(statistics, measure, title) }]
}

const components = ({ summary, statistics }: Source): Figure[] => {
  const results = statistics.results.filter(({ node, measure }) => node === null && measure.startsWith('component/'))
  if (results.length === 0) return []
  const id = 'components'
  const title = 'Where R comes from: contribution of each component'
  const pairs = results.map((result) => {
    const limit = summary.rewards.maxima[result.measure.slice('component/'.length)]
    return { ...pairOf(result, measureLabel(result.measure)), ...(limit === undefined ? {} : { limit }) }
  })
  const caption = `${results.map((result) => `${measureLabel(result.measure)} ${changeText(result)}`).join('; ')}. A stroke marks the largest possible contribution.`
  const highest = Math.max(0, ...Object.values(summary.rewards.maxima))
  const range = rewardRange(results, highest)
  const svg = barChart({ id, title, description: caption, axis: 'mean contribution to R', pairs, range })
  return [{ id, title, caption, svg, table: componentTable(statistics) }]
}

const histogramTable = (deltas: readonly number[]): Table => ({
  id: 'delta-bins',
  title: 'Prompts by change of mean R',
  header: ['from', 'to', 'prompts'],
  rows: binDeltas(deltas).map(({ from, to, count }) => [signed(from), signed(to), String(count)]),
})

const promptFigures = ({ statistics }: Source): Figure[] => {
  const { promptDeltas } = statistics
  if (promptDeltas.length === 0) return []
  const deltas = promptDeltas.map(({ delta }) => delta)
  const [gained, lost] = [deltas.filter((delta) => delta > 0).length, deltas.filter((delta) => delta < 0).length]
  const share = ((100 * gained) / deltas.length).toFixed(0)
  const sentence = `${gained} of ${deltas.length} prompts improved (${share} %), ${deltas.length - gained - lost} stayed, ${lost} fell`
  const range = `from ${signed(deltas[0] ?? 0)} to ${signed(deltas.at(-1) ?? 0)}`
  const nodes = nodeIds
    .map((node) => promptDeltas.filter((one) => one.node === node))
    .filter((own) => own.length > 0)
    .map((own) => `${own[0]?.node} ${own.filter(({ delta }) => delta > 0).length} of ${own.length}`)
  const histogram = {
    id: 'delta-histogram',
    title: 'How much prompts gained or lost',
    caption: `${sentence}; changes ${range}.`,
  }
  const curve = {
    id: 'delta-curve',
    title: 'Change of every prompt',
    caption: `${sentence}; improved by node: ${nodes.join(', ')}.`,
  }
  return [
    {
      ...histogram,
      svg: deltaHistogram(promptDeltas, { ...histogram, description: histogram.caption }),
      table: histogramTable(deltas),
    },
    {
      ...curve,
      svg: deltaCurve(promptDeltas, { ...curve, description: curve.caption }),
      table: promptTable(statistics),
    },
  ]
}

/** The figures of an evaluation, in the order of a report. What cannot be drawn, as a judge that was never asked, is left out. */
export const figuresOf = (source: Source): Figure[] => {
  const [histogram, curve] = promptFigures(source)
  const reward = {
    id: 'reward-by-node',
    title: 'Mean R by node',
    axis: 'mean R',
    maximum: source.summary.rewardMaximum,
  }
  const judge = {
    id: 'judge-by-node',
    title: `Judge (${source.summary.judge}) by node`,
    axis: 'mean judge score, 0 to 1',
    maximum: 1,
  }
  return [
    ...globalReward(source),
    ...(histogram === undefined ? [] : [histogram]),
    ...perNode(source, 'reward', reward),
    ...perNode(source, 'judge', judge),
    ...components(source),
    ...(curve === undefined ? [] : [curve]),
  ]
}
