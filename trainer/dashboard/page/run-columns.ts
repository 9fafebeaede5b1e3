import type { RunCard } from '../view.ts'

/** What the list of runs can be ordered by. */
interface RunColumn {
  readonly title: string
  /** Null goes last, whatever the direction. */
  readonly value?: (run: RunCard) => number | string | null
  /** What is looked for comes first: the worst node, the largest reward. */
  readonly first?: 'ascending' | 'descending'
}

export const runColumns = {
  run: { title: 'run', value: ({ id }) => id, first: 'ascending' },
  state: { title: 'state', value: ({ state }) => state, first: 'ascending' },
  step: { title: 'step', value: ({ step }) => step, first: 'descending' },
  curve: { title: 'reward over steps' },
  reward: { title: 'reward, last 10', value: ({ lastReward }) => lastReward, first: 'descending' },
  heldout: { title: 'held out', value: ({ heldout }) => heldout?.trained ?? null, first: 'descending' },
  change: { title: 'change from base', value: ({ heldout }) => heldout?.delta ?? null, first: 'descending' },
  node: { title: 'worst node', value: ({ heldout }) => heldout?.worst?.delta ?? null, first: 'ascending' },
  alerts: { title: 'alerts', value: ({ alerts }) => alerts.warnings, first: 'descending' },
  model: { title: 'model', value: ({ model }) => model, first: 'ascending' },
  updated: { title: 'updated', value: ({ updatedAt }) => updatedAt, first: 'descending' },
} as const satisfies Record<string, RunColumn>

export type RunColumnName = keyof typeof runColumns
const columns: Readonly<Record<RunColumnName, RunColumn>> = runColumns

export interface RunOrder {
  readonly column: RunColumnName
  readonly direction: 'ascending' | 'descending'
}

const opposite = { ascending: 'descending', descending: 'ascending' } as const

/** From an address: `change`, or `-change` for the other direction; the latest first where it names no column. */
export const runOrder = (text: string | null): RunOrder => {
  const name = (text ?? '').replace(/^-/, '')
  const column = Object.hasOwn(columns, name) ? (name as RunColumnName) : 'updated'
  const first = columns[column].first ?? 'ascending'
  return { column, direction: column === name && text?.startsWith('-') === true ? opposite[first] : first }
}

/** What the address says when this column is chosen: first its own direction, then the other one. Null: it cannot be. */
export const chosenOrder = (column: RunColumnName, now: RunOrder): string | null => {
  const { first, value } = columns[column]
  if (value === undefined) return null
  return now.column === column && now.direction === first ? `-${column}` : column
}

const compare = (a: number | string, b: number | string): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true })

/** Runs in an order; equal ones stay as they stand. */
export const ordered = (runs: readonly RunCard[], { column, direction }: RunOrder): RunCard[] => {
  const value = columns[column].value ?? ((): null => null)
  const sign = direction === 'ascending' ? 1 : -1
  return runs.toSorted((a, b) => {
    const [one, other] = [value(a), value(b)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return sign * compare(one, other)
  })
}
