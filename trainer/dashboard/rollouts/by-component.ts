import { nodeIds } from '../../../data/records/node.ts'
import { mean } from '../../../data/statistics.ts'
import type { ComponentCell, ComponentReply } from '../view.ts'
import { recentOf, recentSteps } from './by-node.ts'
import { correlation } from './correlation.ts'
import type { RolloutIndex } from './index-run.ts'

type Range = readonly [from: number, to: number]

/** Within a thousandth of its maximum counts as at it. */
const nearly = 1e-3

const rowsIn = (index: RolloutIndex, [from, to]: Range): number[] => {
  const { step } = index.columns.of
  const rows: number[] = []
  for (let row = 0; row < index.columns.count; row++) {
    const at = step.data[row] ?? 0
    if (at >= from && at <= to && index.isLive(row)) rows.push(row)
  }
  return rows
}

/** As many of the first steps; null where the two would overlap. */
export const firstOf = (index: RolloutIndex): Range | null => {
  const steps = index.steps()
  return steps === null || steps[1] - steps[0] + 1 < 2 * recentSteps ? null : [steps[0], steps[0] + recentSteps - 1]
}

const valuesOf = (index: RolloutIndex, rows: readonly number[], node: number, component: number): number[] => {
  const own = index.columns.weighted[component]?.data
  return rows.flatMap((row) => {
    const value = own?.[row] ?? Number.NaN
    return index.columns.of.node.data[row] !== node || Number.isNaN(value) ? [] : [value]
  })
}

const cellsOf = (
  index: RolloutIndex,
  recent: readonly number[],
  before: readonly number[],
  maxima: Readonly<Record<string, number>>,
): ComponentCell[] =>
  nodeIds.flatMap((node, number) =>
    index.columns.components.flatMap((component, i): ComponentCell[] => {
      const values = valuesOf(index, recent, number, i)
      const failed = recent.filter(
        (row) => index.columns.of.node.data[row] === number && index.columns.of.failedBy.data[row] === i + 1,
      ).length
      if (values.length === 0 && failed === 0) return []
      const earlier = valuesOf(index, before, number, i)
      const maximum = maxima[component] ?? Infinity
      const least = Math.min(...values)
      return [
        {
          ...{ node, component, failed, n: values.length },
          mean: values.length === 0 ? 0 : mean(values),
          before: earlier.length === 0 ? null : mean(earlier),
          atMaximum: values.filter((value) => value >= maximum - nearly).length / Math.max(1, values.length),
          atMinimum: values.filter((value) => value <= Math.min(0, least) + nearly).length / Math.max(1, values.length),
        },
      ]
    }),
  )

const correlationsOf = ({ columns }: RolloutIndex, recent: readonly number[]): (number | null)[][] => {
  const scored = recent.filter((row) => !Number.isNaN(columns.of.total.data[row] ?? Number.NaN))
  const series = [
    ...columns.weighted.map(({ data }) => scored.map((row) => data[row] ?? 0)),
    scored.map((row) => columns.of.tokens.data[row] ?? 0),
  ]
  return series.map((a) => series.map((b) => correlation(a, b)))
}

/** Every component at every node over the latest steps, and how components go together. */
export const summariseComponents = (index: RolloutIndex, maxima: Readonly<Record<string, number>>): ComponentReply => {
  const recent = recentOf(index)
  const [early, rows] = [firstOf(index), recent === null ? [] : rowsIn(index, recent)]
  return {
    progress: index.progress(),
    components: index.columns.components,
    maxima,
    recent,
    cells: cellsOf(index, rows, early === null ? [] : rowsIn(index, early), maxima),
    correlations: correlationsOf(index, rows),
    sumError: index.columns.sumError,
  }
}
