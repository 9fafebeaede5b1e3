import type { JudgeScope } from '../view-judge.ts'
import { chartFrame } from './chart-frame.ts'
import { s } from './dom.ts'
import { compact, percent } from './format.ts'
import { scale, ticks } from './scale.ts'

const [left, right, top, bottom, height] = [50, 14, 8, 38, 260] as const

const bandName = (band: number, bands: number): string =>
  band === bands - 1
    ? 'at the maximum'
    : `${(band / (bands - 1)).toFixed(1)} to ${((band + 1) / (bands - 1)).toFixed(1)}`

const shares = (counts: readonly number[]): number[] => {
  const whole = counts.reduce((sum, count) => sum + count, 0)
  return counts.map((count) => (whole === 0 ? 0 : count / whole))
}

/** Share of the uppermost band in all scores of these windows. */
const topOf = (windows: JudgeScope['windows']): string => {
  const all = windows.reduce((sum, { n }) => sum + n, 0)
  const highest = windows.reduce((sum, { counts }) => sum + (counts.at(-1) ?? 0), 0)
  return all === 0 ? 'none' : percent(highest / all)
}

interface HeatMap {
  readonly id: string
  readonly title: string
  /** Last step of each window. */
  readonly steps: readonly number[]
  readonly first: number
  readonly windows: JudgeScope['windows']
  readonly width: number
}

/** How scores are distributed over the steps: the fuller a field, the more of its window's scores lie there. */
export const heatMap = ({ id, title, steps, first, windows, width }: HeatMap): HTMLElement => {
  const bands = windows[0]?.counts.length ?? 1
  const columns = windows.map(({ counts }) => shares(counts))
  const last = steps.at(-1) ?? first
  const x = scale([first, last + 1], [left, width - right])
  const y = scale([0, bands], [height - bottom, top])
  const from = (i: number): number => (i === 0 ? first : (steps[i - 1] ?? first) + 1)
  const picture = s(
    'svg',
    { class: 'chart', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    s('rect', { class: 'bar-ground', x: left, y: top, width: width - left - right, height: height - top - bottom }),
    columns.flatMap((column, i) =>
      column.map((share, band) =>
        share === 0
          ? null
          : s(
              'rect',
              {
                ...{ class: 'fill total', 'fill-opacity': (0.08 + 0.92 * share).toFixed(3) },
                ...{ x: x(from(i)), width: Math.max(1, x((steps[i] ?? last) + 1) - x(from(i)) - 0.5) },
                ...{ y: y(band + 1), height: y(0) - y(1) - 1 },
              },
              s('title', {}, `steps ${from(i)} to ${steps[i]}, score ${bandName(band, bands)}: ${percent(share)}`),
            ),
      ),
    ),
    [0, 0.5, 1].map((value) =>
      s('text', { class: 'tick', x: left - 6, y: y(value * (bands - 1)) + 4, 'text-anchor': 'end' }, compact(value)),
    ),
    ticks(first, last, Math.max(2, Math.floor((width - left - right) / 90))).map((value) =>
      s('text', { class: 'tick', x: x(value), y: height - bottom + 16, 'text-anchor': 'middle' }, compact(value)),
    ),
    s('text', { class: 'tick', x: width - right, y: height - bottom + 31, 'text-anchor': 'end' }, 'step'),
  )
  const part = Math.max(1, Math.floor(windows.length / 4))
  return chartFrame({
    ...{ id, title, picture },
    caption: `Scores at the maximum: ${topOf(windows.slice(0, part))} in the first quarter of the steps, ${topOf(windows.slice(-part))} in the last.`,
    note: 'Rows are tenths of the score, the uppermost one the scores at the maximum.',
    header: ['last step', 'scores', ...Array.from({ length: bands }, (_, band) => bandName(band, bands))],
    rows: windows.map(({ n, counts }, i) => [steps[i] ?? 0, n, ...counts]),
  })
}
