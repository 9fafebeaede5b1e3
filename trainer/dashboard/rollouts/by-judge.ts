import { nodeIds } from '../../../data/records/node.ts'
import { judgeHints } from '../judge-hints.ts'
import type { JudgeReply, JudgeScope } from '../view-judge.ts'
import { firstOf } from './by-component.ts'
import { recentOf } from './by-node.ts'
import type { RolloutIndex } from './index-run.ts'
import { failedIn, JudgeTally, periodOf, windowOf, type JudgedRow } from './judge-tally.ts'
import { readRows } from './rows.ts'

type Range = readonly [from: number, to: number]
const isIn = (step: number, range: Range | null): boolean => range !== null && step >= range[0] && step <= range[1]

/** A window holds about so many completions, and there are at most so many windows. */
const [windowSize, mostWindows] = [200, 60]

const suspectsEach = 5
/** So much more of its maximum, at least, the judge gives than the other components do of theirs. */
const wideGap = 0.3
const judgeName = 'judge'

/** Last step of each window of equally many steps. */
const windowEnds = (rows: number, [from, to]: Range): number[] => {
  const steps = to - from + 1
  const count = Math.max(1, Math.min(mostWindows, steps, Math.floor(rows / windowSize)))
  return Array.from({ length: count }, (_, i) => from + Math.ceil(((i + 1) * steps) / count) - 1)
}

/** Reads a row as the judge's statistics need it. */
const rowReader = (
  { columns }: RolloutIndex,
  maxima: Readonly<Record<string, number>>,
): ((row: number) => JudgedRow) => {
  const others = Object.entries(maxima).filter(([name]) => name !== judgeName)
  const most = others.length === 0 ? Number.NaN : others.reduce((sum, [, maximum]) => sum + maximum, 0)
  const component = columns.components.indexOf(judgeName)
  const own = columns.weighted[component]?.data
  const { step, tokens, total, judge, failedBy, sample, dead } = columns.of
  return (row) => ({
    step: step.data[row] ?? 0,
    judge: judge.data[row] ?? Number.NaN,
    rest: ((total.data[row] ?? Number.NaN) - (own?.[row] ?? 0)) / most,
    tokens: tokens.data[row] ?? 0,
    isFailed: component !== -1 && failedBy.data[row] === component + 1,
    isFirst: sample.data[row] === 0,
    isDead: dead.data[row] === 1,
  })
}

/** One tally a node. */
const tallies = (keepsSteps: boolean): JudgeTally[] => nodeIds.map(() => new JudgeTally(keepsSteps))

interface Tallied {
  readonly windows: readonly JudgeTally[][]
  readonly recent: JudgeTally[]
  readonly before: JudgeTally[]
  /** Rows of the recent steps. */
  readonly recentRows: readonly number[]
}

const tally = (
  index: RolloutIndex,
  read: (row: number) => JudgedRow,
  ends: readonly number[],
  recent: Range | null,
  before: Range | null,
): Tallied => {
  const { count, of } = index.columns
  const windows = ends.map(() => tallies(false))
  const all = { windows, recent: tallies(true), before: tallies(true), recentRows: [] as number[] }
  // Rows of a step stand together: the window is looked up anew where the step changes.
  let [step, window] = [-1, windows[0]]
  for (let row = 0; row < count; row++) {
    if (!index.isLive(row)) continue
    const [one, node] = [read(row), of.node.data[row] ?? 0]
    if (one.step !== step) [step, window] = [one.step, windows[ends.findIndex((end) => one.step <= end)]]
    window?.[node]?.add(one)
    if (isIn(one.step, before)) all.before[node]?.add(one)
    if (!isIn(one.step, recent)) continue
    all.recent[node]?.add(one)
    all.recentRows.push(row)
  }
  return all
}

/** Completions that the judge likes much more than the other components do, at each node; of a prompt the widest gap. */
const suspectsOf = async (
  index: RolloutIndex,
  read: (row: number) => JudgedRow,
  rows: readonly number[],
): Promise<JudgeReply['suspects']> => {
  const { columns } = index
  const widest = rows
    .map((row) => ({ ...read(row), row, node: columns.nodeOf(row), prompt: columns.of.prompt.data[row] ?? 0 }))
    .filter(({ judge, rest }) => judge - rest >= wideGap)
    .toSorted((a, b) => b.judge - b.rest - (a.judge - a.rest) || b.step - a.step)
  const found = nodeIds.flatMap((wanted) => {
    const prompts = new Set<number>()
    const own = widest.filter(({ node, prompt }) => node === wanted && !prompts.has(prompt) && prompts.add(prompt))
    return own.slice(0, suspectsEach)
  })
  const shown = await readRows(
    index,
    found.map(({ row }) => row),
  )
  return found.flatMap(({ judge, rest }, i) => {
    const row = shown[i]
    return row === undefined ? [] : [{ judge, rest, row }]
  })
}

/** How the judge scores, by node and over the steps, from the completions on record. */
export const summariseJudge = async (
  index: RolloutIndex,
  maxima: Readonly<Record<string, number>>,
): Promise<JudgeReply> => {
  const [steps, recent, before] = [index.steps(), recentOf(index), firstOf(index)]
  const ends = steps === null ? [] : windowEnds(index.columns.count, steps)
  const read = rowReader(index, maxima)
  const all = tally(index, read, ends, recent, before)
  const scopes = [null, ...nodeIds].map((node, i): JudgeScope => {
    const own = (list: readonly JudgeTally[]): readonly JudgeTally[] => (node === null ? list : list.slice(i - 1, i))
    return {
      node,
      failed: failedIn(own(all.recent)),
      recent: periodOf(own(all.recent)),
      before: periodOf(own(all.before)),
      windows: all.windows.map((window) => windowOf(own(window))),
    }
  })
  return {
    ...{
      progress: index.progress(),
      first: steps?.[0] ?? 0,
      steps: ends,
      recent,
      before,
      scopes,
      hints: judgeHints(scopes),
    },
    suspects: await suspectsOf(index, read, all.recentRows),
  }
}
