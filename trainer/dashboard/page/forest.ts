import type { PairedResult } from '../../../data/records/evaluation.ts'
import { chartFrame } from './chart-frame.ts'
import { s } from './dom.ts'
import { change, compact } from './format.ts'
import { nodes } from './nodes.ts'
import { scale, ticks } from './scale.ts'

const [rowHeight, left, right, top, bottom] = [38, 128, 84, 10, 44] as const

/** Changes with their intervals, one below the other: an interval that does not touch the line of zero is beyond chance. */
export const forest = (results: readonly PairedResult[], width: number): HTMLElement => {
  const height = top + results.length * rowHeight + bottom
  const ends = results.flatMap(({ delta, interval }) => [delta, interval?.low ?? delta, interval?.high ?? delta])
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)]
  const x = scale([low, high === low ? low + 1 : high], [left, width - right])
  const base = height - bottom
  const row = ({ node, delta, interval }: PairedResult, i: number) => {
    const y = top + (i + 0.5) * rowHeight
    const look = node ?? 'total'
    const marker = node === null ? 'M-6-4H6V4H-6Z' : nodes[node].marker
    return [
      s(
        'text',
        { class: 'tick', x: left - 12, y: y + 4, 'text-anchor': 'end' },
        node === null ? 'all nodes' : `${node} ${nodes[node].short}`,
      ),
      interval === null
        ? null
        : s('line', { class: `line ${look}`, x1: x(interval.low), x2: x(interval.high), y1: y, y2: y }),
      s('path', { class: `fill ${look}`, d: marker, transform: `translate(${x(delta).toFixed(1)} ${y})` }),
      s('text', { class: 'label', x: width - right + 12, y: y + 4 }, change(delta)),
    ]
  }
  const picture = s(
    'svg',
    { class: 'chart', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    ticks(low, high, Math.max(2, Math.floor((width - left - right) / 80))).flatMap((value) => [
      s('line', { class: 'grid', x1: x(value), x2: x(value), y1: top, y2: base }),
      s('text', { class: 'tick', x: x(value), y: base + 16, 'text-anchor': 'middle' }, compact(value)),
    ]),
    s('line', { class: 'axis', x1: x(0), x2: x(0), y1: top, y2: base }),
    s('text', { class: 'tick', x: width - right, y: base + 32, 'text-anchor': 'end' }, 'change of R'),
    results.flatMap(row),
  )
  const beyond = results.filter(({ interval }) => interval !== null && (interval.low > 0 || interval.high < 0)).length
  return chartFrame({
    ...{ id: 'changes', title: 'Change of R, with 95 % intervals', picture },
    caption: `${beyond} of ${results.length} intervals do not hold zero.`,
    note: 'Paired bootstrap over prompts; a node has a fifth of the prompts, so its interval is wider.',
    header: ['node', 'change', 'low', 'high'],
    rows: results.map(({ node, delta, interval }) => [
      node ?? 'all',
      delta,
      interval?.low ?? null,
      interval?.high ?? null,
    ]),
  })
}
