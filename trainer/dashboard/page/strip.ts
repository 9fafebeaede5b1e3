import type { NodeSummary } from '../view.ts'
import { s } from './dom.ts'

const mostBins = 60

/** Share of dead groups over the steps as a strip: the taller and darker, the more of them. */
export const deadStrip = (
  { dead, groups }: Pick<NodeSummary, 'dead' | 'groups'>,
  width = 240,
  height = 44,
): SVGElement => {
  const size = Math.max(1, Math.ceil(groups.length / mostBins))
  const bins = Array.from({ length: Math.ceil(groups.length / size) }, (_, i) => {
    const sum = (values: readonly number[]): number =>
      values.slice(i * size, (i + 1) * size).reduce((total, value) => total + value, 0)
    return sum(dead) / Math.max(1, sum(groups))
  })
  const step = width / Math.max(1, bins.length)
  return s(
    'svg',
    { class: 'strip', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    s('rect', { class: 'bar-ground', width, height }),
    bins.map((share, i) =>
      s('rect', {
        class: 'fill dead',
        x: i * step,
        y: height * (1 - share),
        width: Math.max(1, step - 0.5),
        height: height * share,
      }),
    ),
  )
}
