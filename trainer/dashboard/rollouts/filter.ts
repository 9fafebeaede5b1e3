import { z } from 'zod'
import { NodeId, nodeIds } from '../../../data/records/node.ts'
import { FinishReason } from '../../../data/records/rollout.ts'
import { finishReasons } from './columns.ts'
import type { RolloutIndex } from './index-run.ts'

const number = z.coerce.number().refine(Number.isFinite)
const wholeNumber = z.coerce.number().int().min(0)

/** What a list of rollouts can be narrowed by, as it stands in an address. */
export const RolloutFilter = z.object({
  node: NodeId.optional(),
  from: wholeNumber.optional(),
  to: wholeNumber.optional(),
  prompt: z.string().max(64).optional(),
  least: number.optional(),
  most: number.optional(),
  /** Contribution of this component is at most `below`. */
  component: z.string().max(64).optional(),
  below: number.optional(),
  finish: FinishReason.optional(),
  text: z.string().max(500).optional(),
  state: z.enum(['unscored', 'dead', 'learning']).optional(),
  sort: z.enum(['newest', 'best', 'worst', 'advantage', 'longest']).default('newest'),
  page: wholeNumber.default(0),
})
export type RolloutFilter = z.infer<typeof RolloutFilter>

type Test = (row: number) => boolean

const rangeTests = ({ columns }: RolloutIndex, filter: RolloutFilter): Test[] => {
  const { from, to, least, most } = filter
  const [step, total] = [columns.step.data, columns.total.data]
  // Contributions are kept in single precision.
  const slack = 1e-6
  const tests: Test[] = []
  if (from !== undefined) tests.push((row) => (step[row] ?? 0) >= from)
  if (to !== undefined) tests.push((row) => (step[row] ?? 0) <= to)
  if (least !== undefined) tests.push((row) => (total[row] ?? Number.NaN) >= least - slack)
  if (most !== undefined) tests.push((row) => (total[row] ?? Number.NaN) <= most + slack)
  return tests
}

const stateTests: Readonly<Record<NonNullable<RolloutFilter['state']>, (index: RolloutIndex) => Test>> = {
  unscored: ({ columns }) => {
    const total = columns.total.data
    return (row) => Number.isNaN(total[row])
  },
  dead: ({ columns }) => {
    const dead = columns.dead.data
    return (row) => dead[row] === 1
  },
  learning: ({ columns }) => {
    const dead = columns.dead.data
    return (row) => dead[row] === 0
  },
}

const componentTest = ({ columns }: RolloutIndex, name: string, below: number | undefined): Test => {
  const values = columns.weighted[columns.components.indexOf(name)]?.data
  return (row) => (values?.[row] ?? Number.NaN) <= (below ?? Infinity) + 1e-6
}

const textTest = (index: RolloutIndex, text: string): Test => {
  const found = new Uint8Array(index.columns.count)
  index.texts.find(text, (row) => {
    found[row] = 1
  })
  return (row) => found[row] === 1
}

const testsOf = (index: RolloutIndex, filter: RolloutFilter): Test[] => {
  const { columns } = index
  const tests = rangeTests(index, filter)
  if (filter.node !== undefined) {
    const [wanted, node] = [nodeIds.indexOf(filter.node), columns.node.data]
    tests.push((row) => node[row] === wanted)
  }
  if (filter.finish !== undefined) {
    const [wanted, finish] = [finishReasons.indexOf(filter.finish), columns.finish.data]
    tests.push((row) => finish[row] === wanted)
  }
  if (filter.prompt !== undefined) {
    const [wanted, prompt] = [columns.promptNumber(filter.prompt), columns.prompt.data]
    tests.push((row) => prompt[row] === wanted)
  }
  if (filter.state !== undefined) tests.push(stateTests[filter.state](index))
  if (filter.component !== undefined) tests.push(componentTest(index, filter.component, filter.below))
  if (filter.text !== undefined && filter.text !== '') tests.push(textTest(index, filter.text))
  return tests
}

/** Sort key by row, smallest first; a value that does not exist goes last. */
const keys: Readonly<Record<RolloutFilter['sort'], (index: RolloutIndex, row: number) => number>> = {
  newest: ({ columns }, row) => -(columns.step.data[row] ?? 0),
  best: ({ columns }, row) => -(columns.total.data[row] ?? Number.NaN),
  worst: ({ columns }, row) => columns.total.data[row] ?? Number.NaN,
  advantage: ({ columns }, row) => -Math.abs(columns.advantage.data[row] ?? Number.NaN),
  longest: ({ columns }, row) => -(columns.tokens.data[row] ?? 0),
}

const at = (column: { data: ArrayLike<number> }, row: number): number => column.data[row] ?? 0

/** Rows that pass, in order. Equal keys: the newer step first, then by place in its file. */
export const selectRows = (index: RolloutIndex, filter: RolloutFilter): Uint32Array => {
  const { columns } = index
  const tests = testsOf(index, filter)
  const rows: number[] = []
  for (let row = 0; row < columns.count; row++)
    if (index.isLive(row) && tests.every((test) => test(row))) rows.push(row)
  const key = new Float64Array(columns.count)
  for (const row of rows) {
    const value = keys[filter.sort](index, row)
    key[row] = Number.isNaN(value) ? Infinity : value
  }
  const { step, groupInFile, sample } = columns
  return Uint32Array.from(rows).toSorted((a, b) => {
    const [x, y] = [key[a] ?? 0, key[b] ?? 0]
    if (x !== y) return x < y ? -1 : 1
    return at(step, b) - at(step, a) || at(groupInFile, a) - at(groupInFile, b) || at(sample, a) - at(sample, b)
  })
}
