import { z } from 'zod'
import { NodeId, nodeIds } from '../../../data/records/node.ts'
import { FinishReason } from '../../../data/records/rollout.ts'
import type { Labels } from '../labels/store.ts'
import { finishReasons } from './columns.ts'
import { compileExpression } from './expression.ts'
import type { RolloutIndex } from './index-run.ts'
import { orders } from './order.ts'
import type { TextSearch } from './search.ts'

const number = z.coerce.number().refine(Number.isFinite)
const wholeNumber = z.coerce.number().int().min(0)

const reasonOf = (expression: string): string | null => {
  try {
    compileExpression(expression)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** What a list of rollouts can be narrowed by, as it stands in an address. */
const Fields = z.object({
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
  /** Where the text is: in the completion, or in the judge's reason. */
  in: z.enum(['completion', 'reason']).default('completion'),
  /** What a reviewer said of it. */
  label: z.enum(['hack', 'fine', 'any']).optional(),
  /** The text is a regular expression. */
  regex: z.literal('on').optional(),
  state: z.enum(['dead', 'learning']).optional(),
  /** It has no score: because of this component, or of `any`. */
  error: z.string().max(64).optional(),
  sort: z.enum(orders).default('newest'),
  page: wholeNumber.default(0),
})
export const RolloutFilter = Fields.superRefine(({ text, regex }, context) => {
  const reason = text === undefined || regex === undefined ? null : reasonOf(text)
  if (reason !== null) context.addIssue({ code: 'custom', path: ['text'], message: reason })
})
export type RolloutFilter = z.infer<typeof RolloutFilter>

type Test = (row: number) => boolean

const rangeTests = ({ columns }: RolloutIndex, filter: RolloutFilter): Test[] => {
  const { from, to, least, most } = filter
  const [step, total] = [columns.of.step.data, columns.of.total.data]
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
  dead: ({ columns }) => {
    const dead = columns.of.dead.data
    return (row) => dead[row] === 1
  },
  learning: ({ columns }) => {
    const dead = columns.of.dead.data
    return (row) => dead[row] === 0
  },
}

const componentTest = ({ columns }: RolloutIndex, name: string, below: number | undefined): Test => {
  const values = columns.weighted[columns.components.indexOf(name)]?.data
  return (row) => (values?.[row] ?? Number.NaN) <= (below ?? Infinity) + 1e-6
}

const errorTest = ({ columns }: RolloutIndex, name: string): Test => {
  const [total, failedBy, wanted] = [
    columns.of.total.data,
    columns.of.failedBy.data,
    columns.components.indexOf(name) + 1,
  ]
  if (name === 'any') return (row) => Number.isNaN(total[row])
  return (row) => wanted !== 0 && failedBy[row] === wanted
}

const labelTest = ({ columns }: RolloutIndex, wanted: NonNullable<RolloutFilter['label']>, labels: Labels): Test => {
  const { attempt, step, groupInFile, sample } = columns.of
  // Asked for every completion of a run: nothing is made here.
  return (row) => {
    for (const one of labels.inStep(step.data[row] ?? 0)) {
      if (one.group !== groupInFile.data[row] || one.sample !== sample.data[row]) continue
      if (one.attempt === attempt.data[row]) return wanted === 'any' || one.label === wanted
    }
    return false
  }
}

const testsOf = (
  index: RolloutIndex,
  filter: RolloutFilter,
  search: TextSearch | null,
  labels: Labels | null,
): Test[] => {
  const { columns } = index
  const tests = rangeTests(index, filter)
  if (filter.label !== undefined && labels !== null) tests.push(labelTest(index, filter.label, labels))
  if (filter.node !== undefined) {
    const [wanted, node] = [nodeIds.indexOf(filter.node), columns.of.node.data]
    tests.push((row) => node[row] === wanted)
  }
  if (filter.finish !== undefined) {
    const [wanted, finish] = [finishReasons.indexOf(filter.finish), columns.of.finish.data]
    tests.push((row) => finish[row] === wanted)
  }
  if (filter.prompt !== undefined) {
    const [wanted, prompt] = [columns.promptNumber(filter.prompt), columns.of.prompt.data]
    tests.push((row) => prompt[row] === wanted)
  }
  if (filter.state !== undefined) tests.push(stateTests[filter.state](index))
  if (filter.error !== undefined) tests.push(errorTest(index, filter.error))
  if (filter.component !== undefined) tests.push(componentTest(index, filter.component, filter.below))
  if (search !== null) tests.push((row) => search.has(row))
  return tests
}

export interface Selection {
  readonly matches: number
  readonly page: number
  readonly rows: readonly number[]
}

/** One page of the rows that pass, in order; the last page where there are fewer. */
export const selectPage = (
  index: RolloutIndex,
  filter: RolloutFilter,
  search: TextSearch | null,
  pageSize: number,
  labels: Labels | null = null,
): Selection => {
  const tests = testsOf(index, filter, search, labels)
  const live = index.files.map(({ state }) => state === 'live')
  const file = index.columns.of.file.data
  const passing = index
    .ordered(filter.sort)
    .filter((row) => live[file[row] ?? 0] === true && tests.every((test) => test(row)))
  const last = Math.max(0, Math.ceil(passing.length / pageSize) - 1)
  const page = Math.min(filter.page, last)
  return { matches: passing.length, page, rows: [...passing.subarray(page * pageSize, (page + 1) * pageSize)] }
}
