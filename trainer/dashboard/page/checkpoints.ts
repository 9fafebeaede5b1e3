import type { NodeId } from '../../../data/records/node.ts'
import type { EvaluationHistory } from '../view.ts'
import { lineChart, type Line } from './chart.ts'
import { h, type Child } from './dom.ts'
import { mean } from './format.ts'
import { nodeIds, nodes } from './nodes.ts'
import { chartWidth, section } from './ui.ts'

/** Mean change from base at each checkpoint, of the prompts that have a value there. */
const changes = (prompts: EvaluationHistory['prompts'], points: EvaluationHistory['points']): (number | null)[] =>
  points.map((_, i) =>
    mean(
      prompts.map(({ base, trained }) => {
        const value = trained[i] ?? null
        return value === null ? null : value - base
      }),
    ),
  )

const ofNode = ({ prompts }: EvaluationHistory, node: NodeId): EvaluationHistory['prompts'] =>
  prompts.filter((prompt) => prompt.node === node)

const nodeChart = (history: EvaluationHistory, node: NodeId, chosen: string | null): HTMLElement | null => {
  const [prompts, x] = [ofNode(history, node), history.points.map(({ step }) => step)]
  if (prompts.length === 0) return null
  const change = ({ base, trained }: (typeof prompts)[number]): (number | null)[] =>
    trained.map((value) => (value === null ? null : value - base))
  const marked = prompts.find(({ promptId }) => promptId === chosen)
  const line: Line = { name: `mean of ${node}`, values: changes(prompts, history.points), look: node }
  return lineChart({
    ...{ id: `checkpoints-${node}`, title: `Prompts of ${node} ${nodes[node].tag}`, x, xName: 'step' },
    ...{ width: chartWidth(3), height: 200 },
    lines: [
      { ...line, marker: nodes[node].marker },
      ...(marked === undefined ? [] : [{ name: marked.promptId, values: change(marked), look: 'total', dashed: true }]),
    ],
    faint: prompts.map((prompt) => ({ name: prompt.promptId, x, values: change(prompt) })),
  })
}

/** The prompts of an evaluation over all checkpoints that were evaluated alike, node by node. */
export const checkpoints = (history: EvaluationHistory, chosen: string | null): Child => {
  const { points, leftOut } = history
  if (points.length < 2) return null
  const common = { x: points.map(({ step }) => step), xName: 'step' }
  return section(
    'checkpoints',
    'Over the checkpoints',
    h(
      'p',
      { class: 'note' },
      `Change of R from base at ${points.map(({ name }) => name).join(', ')}: the same prompts under the same conditions. Faint: each prompt; dashed: the one that is looked at.`,
      leftOut.length === 0 ? '' : ` Left out, for other conditions or without statistics: ${leftOut.join(', ')}.`,
    ),
    h(
      'div',
      { class: 'grid' },
      lineChart({
        ...{
          ...common,
          id: 'checkpoint-nodes',
          title: 'Mean change from base, by node',
          width: chartWidth(1),
          height: 260,
        },
        lines: nodeIds.flatMap((node) => {
          const prompts = ofNode(history, node)
          const names = { name: `${node} ${nodes[node].tag}`, label: `${node} ${nodes[node].short}` }
          const { marker } = nodes[node]
          return prompts.length === 0 ? [] : [{ ...names, look: node, marker, values: changes(prompts, points) }]
        }),
      }),
      nodeIds.map((node) => nodeChart(history, node, chosen)),
    ),
  )
}
