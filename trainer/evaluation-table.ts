import { nodeContracts, nodeIds } from '../data/records/node.ts'
import type { EvaluationRow, EvaluationSummary } from '../data/records/run.ts'
import { alignColumns } from './evaluation/columns.ts'

type Cell = string

const number = (value: number | null, digits = 2): Cell => (value === null ? '-' : value.toFixed(digits))
const percent = (value: number | null): Cell => (value === null ? '-' : `${(100 * value).toFixed(0)} %`)
const arrow = (before: Cell, after: Cell): Cell => `${before} → ${after}`
const change = (before: number | null, after: number | null): Cell => {
  if (before === null || after === null) return '-'
  const delta = after - before
  return `${delta < 0 ? '−' : '+'}${Math.abs(delta).toFixed(2)}`
}

const line = (name: string, { base, trained, improved, equal, worse, improvedShare }: EvaluationRow): Cell[] => [
  name,
  String(trained.prompts),
  arrow(number(base.reward), number(trained.reward)),
  change(base.reward, trained.reward),
  `${percent(improvedShare)} (${improved}/${equal}/${worse})`,
  arrow(number(base.judge), number(trained.judge)),
  arrow(percent(base.exactlyRight), percent(trained.exactlyRight)),
  arrow(percent(base.truncated), percent(trained.truncated)),
]

const nodeTable = (summary: EvaluationSummary): string => {
  const header = [
    'node',
    'prompts',
    'R base → trained',
    'change',
    'improved (up/same/down)',
    'judge',
    'exactly right',
    'cut at limit',
  ]
  const nodes = nodeIds.flatMap((node) => {
    const row = summary.nodes[node]
    return row === undefined ? [] : [line(`${node} ${nodeContracts[node].tag}`, row)]
  })
  return alignColumns([header, ...nodes, line('all', summary.all)])
}

const componentTable = ({ all }: EvaluationSummary): string => {
  const rows = Object.keys({ ...all.base.components, ...all.trained.components }).map((name) => {
    const before = all.base.components[name] ?? null
    const after = all.trained.components[name] ?? null
    return [name, arrow(number(before), number(after)), change(before, after)]
  })
  return alignColumns([['component', 'base → trained', 'change'], ...rows])
}

/** The comparison as text for people: what was compared, a table by node, a table by component. */
export const renderEvaluation = (summary: EvaluationSummary): string => {
  const { decoding, all } = summary
  const unscored = all.base.unscored + all.trained.unscored
  return [
    `Base against policy version ${summary.policyVersion}: ${all.trained.prompts} held-out prompts, ${decoding.samples} samples each, temperature ${decoding.temperature}; R is at most ${summary.rewardMaximum.toFixed(2)}; judge: ${summary.judge}`,
    ...(unscored === 0 ? [] : [`${unscored} completions could not be scored and are left out of the means.`]),
    '',
    nodeTable(summary),
    '',
    componentTable(summary),
  ].join('\n')
}
