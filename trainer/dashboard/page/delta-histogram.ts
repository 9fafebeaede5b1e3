import { chartFrame } from './chart-frame.ts'
import { s } from './dom.ts'
import { compact } from './format.ts'
import { scale, ticks } from './scale.ts'

const binCount = 24

/** How many prompts changed by how much. */
export const deltaHistogram = (
  deltas: readonly number[],
  width: number,
  title = 'How much prompts changed',
): HTMLElement => {
  const [height, edge] = [230, 40]
  const most = Math.max(0.01, ...deltas.map(Math.abs))
  const size = (2 * most) / binCount
  const counts = Array.from({ length: binCount }, () => 0)
  for (const delta of deltas) {
    const bin = Math.min(binCount - 1, Math.floor((delta + most) / size))
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  const tallest = Math.max(1, ...counts)
  const [x, y] = [scale([-most, most], [edge, width - 14]), scale([0, tallest], [height - 40, 10])]
  const picture = s(
    'svg',
    { class: 'chart', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    ticks(0, tallest, 4)
      .filter(Number.isInteger)
      .flatMap((value) => [
        s('line', { class: 'grid', x1: edge, x2: width - 14, y1: y(value), y2: y(value) }),
        s('text', { class: 'tick', x: edge - 6, y: y(value) + 4, 'text-anchor': 'end' }, value),
      ]),
    ticks(-most, most, 6).map((value) =>
      s('text', { class: 'tick', x: x(value), y: height - 24, 'text-anchor': 'middle' }, compact(value)),
    ),
    counts.map((count, i) =>
      s('rect', {
        class: (i + 0.5) * size < most ? 'fill loss' : 'fill total',
        x: x(-most + i * size) + 0.5,
        width: Math.max(1, x(size) - x(0) - 1),
        y: y(count),
        height: y(0) - y(count),
      }),
    ),
    s('line', { class: 'axis', x1: x(0), x2: x(0), y1: 10, y2: y(0) }),
    s('text', { class: 'tick', x: width - 14, y: height - 8, 'text-anchor': 'end' }, 'change of R, prompts'),
  )
  return chartFrame({
    ...{ id: 'histogram', title, picture },
    caption: `${deltas.filter((delta) => delta > 0).length} of ${deltas.length} prompts earn more than before.`,
    header: ['from', 'to', 'prompts'],
    rows: counts.map((count, i) => [-most + i * size, -most + (i + 1) * size, count]),
  })
}
