import { nodeContracts, nodeIds } from '../../data/records/node.ts'
import type { ComponentChange, ScoreChange } from '../../rewards/score-change.ts'
import { decimal, table } from '../table.ts'
import type { GivenCompletion } from './given-completion.ts'
import type { ScoreRow, ScoreRows } from './tally.ts'

/** One line a component and one column a node: mean contributions to R, then their sum and how many they are of. */
export const renderRows = ({ all, nodes }: ScoreRows, components: readonly string[]): string => {
  const present = nodeIds.flatMap((node) => {
    const row = nodes[node]
    return row === undefined ? [] : [{ name: `${node} ${nodeContracts[node].tag}`, short: node, row }]
  })
  const columns = [...present, { name: 'all', short: 'all', row: all }]
  const line = (name: string, cell: (row: ScoreRow) => string): string[] => [
    name,
    ...columns.map(({ row }) => cell(row)),
  ]
  const numbers = table(
    ['component', ...columns.map(({ short }) => short)],
    [
      ...components.map((name) => line(name, (row) => decimal(row.components[name] ?? null))),
      line('R', ({ reward }) => decimal(reward)),
      line('completions', ({ completions }) => String(completions)),
      line('unscored', ({ unscored }) => String(unscored)),
    ],
  )
  return `${numbers}\n\n${present.map(({ name }) => name).join(', ')}`
}

const rewardText = (value: number | null, reason: string | null): string =>
  value === null ? `unscored (${reason})` : value.toFixed(4)

const component = ({ name, before, after }: ComponentChange): string =>
  `${name} ${decimal(before, 4)} → ${decimal(after, 4)}`

/** One changed completion on one line: where it is recorded, R before and after, the components that made it. */
export const renderChange = ({ where, promptId, index }: GivenCompletion, change: ScoreChange): string => {
  const before = rewardText(change.before, change.beforeReason)
  const after = rewardText(change.after, change.afterReason)
  const parts = [`R ${before} → ${after}`, ...change.components.map(component)]
  return `${where} completion ${index} of prompt ${promptId}: ${parts.join('; ')}`
}
