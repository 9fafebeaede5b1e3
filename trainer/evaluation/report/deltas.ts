import type { PromptDelta } from '../../../data/records/evaluation.ts'
import { nodeIds, type NodeId } from '../../../data/records/node.ts'
import { element, margin, scale, svg, text, ticks, tickText, type ChartText, type Scale } from './svg.ts'

const width = 720
const height = 340
const plot = { left: margin.left, right: width - margin.right, top: margin.top + 28, bottom: height - margin.bottom }

export interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Bins of one round width with an edge at 0: no bin mixes gains with losses. A change of exactly 0 is with the gains. */
export const binDeltas = (deltas: readonly number[]): Bin[] => {
  const [low, high] = [Math.min(0, ...deltas), Math.max(0, ...deltas)]
  const steps = ticks(low, high)
  const size = steps.length > 1 ? (steps[1]! - steps[0]!) / 2 : 1
  const [first, last] = [Math.floor(low / size + 1e-9), Math.max(Math.floor(high / size + 1e-9), 0)]
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const [from, to] = [(first + i) * size, (first + i + 1) * size]
    const count = deltas.filter((delta) => Math.floor(delta / size + 1e-9) === first + i).length
    return { from, to, count }
  })
}

const yAxis = (y: Scale, values: readonly number[], name: string): string[] => [
  element('path', { class: 'axis', d: `M${plot.left} ${plot.top}V${plot.bottom}` }),
  ...values.map((value) =>
    text(plot.left - 8, y(value) + 4, tickText(value), { 'text-anchor': 'end', class: 'muted' }),
  ),
  text(plot.left - 40, plot.top - 12, name, { class: 'muted' }),
]

const zeroLine = (y: number): string => element('path', { class: 'axis', d: `M${plot.left} ${y}H${plot.right}` })

/** How many prompts gained or lost how much. */
export const deltaHistogram = (deltas: readonly PromptDelta[], words: ChartText): string => {
  const bins = binDeltas(deltas.map(({ delta }) => delta))
  const most = Math.max(1, ...bins.map(({ count }) => count))
  const x = scale([bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1], [plot.left, plot.right])
  const y = scale([0, most], [plot.bottom, plot.top])
  const bars = bins.map(({ from, to, count }) =>
    [
      // Losses are hollow and dashed, gains solid: the sign can be seen without colours.
      element('rect', {
        class: to <= 1e-9 ? 'base' : 'trained',
        ...{ x: x(from) + 1.5, y: y(count), width: x(to) - x(from) - 3, height: plot.bottom - y(count) },
      }),
      ...(count === 0 ? [] : [text((x(from) + x(to)) / 2, y(count) - 4, String(count), { 'text-anchor': 'middle' })]),
    ].join(''),
  )
  const edges = ticks(bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1).map((value) =>
    text(x(value), plot.bottom + 18, tickText(value), { 'text-anchor': 'middle', class: 'muted' }),
  )
  const counts = ticks(0, most).filter(Number.isInteger)
  const name = text((plot.left + plot.right) / 2, height - 8, 'change of mean R (dashed: losses, solid: gains)', {
    'text-anchor': 'middle',
    class: 'muted',
  })
  return svg(words, width, height, [...yAxis(y, counts, 'prompts'), zeroLine(plot.bottom), ...bars, ...edges, name])
}

const path = (d: string) => (node: NodeId, x: number, y: number) =>
  element('path', { class: node, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, d })

/** One shape a node. */
const markers: Readonly<Record<NodeId, (node: NodeId, x: number, y: number) => string>> = {
  n1: (node, cx, cy) => element('circle', { class: node, cx, cy, r: 3.2 }),
  n2: path('M-3-3h6v6h-6z'),
  n3: path('M0-4L4 3H-4z'),
  n4: path('M0-4.4L4.4 0 0 4.4-4.4 0z'),
  n5: path('M-3.4-3.4L3.4 3.4M-3.4 3.4L3.4-3.4'),
}

/** Every prompt by its change, from the largest loss to the largest gain; the shape says the node. */
export const deltaCurve = (deltas: readonly PromptDelta[], words: ChartText): string => {
  const values = deltas.map(({ delta }) => delta)
  const x = scale([0, Math.max(1, deltas.length - 1)], [plot.left + 8, plot.right])
  const range: readonly [number, number] = [Math.min(0, ...values), Math.max(0, ...values)]
  const y = scale(range, [plot.bottom, plot.top])
  const points = deltas.map(({ node, delta }, i) => markers[node](node, x(i), y(delta)))
  const keys = nodeIds.flatMap((node, i) => [
    markers[node](node, plot.left + 90 + i * 60, margin.top + 2),
    text(plot.left + 99 + i * 60, margin.top + 6, node),
  ])
  const name = text((plot.left + plot.right) / 2, height - 8, 'prompts, sorted by change', {
    'text-anchor': 'middle',
    class: 'muted',
  })
  return svg(words, width, height, [...yAxis(y, ticks(...range), 'ΔR'), zeroLine(y(0)), ...points, ...keys, name])
}
