import { element, legend, margin, scale, svg, text, ticks, tickText, type ChartText, type Scale } from './svg.ts'

export interface BarPair {
  readonly label: string
  readonly base: number
  readonly trained: number
  /** Largest possible value, marked where bars have different ones. */
  readonly limit?: number
}

export interface BarsOptions extends ChartText {
  readonly pairs: readonly BarPair[]
  /** Name of the measure, with its unit. */
  readonly axis: string
  readonly range: readonly [low: number, high: number]
}

const rowHeight = 46
const labelWidth = 190
const width = 720

const bar = (kind: 'base' | 'trained', zero: number, end: number, y: number): string =>
  element('rect', { class: kind, x: Math.min(zero, end), y, width: Math.abs(end - zero), height: 15 })

/** Where a bar's number stands: after the bar, and after the stroke of the limit where that would cross it. */
const numberAt = (x: Scale, value: number, limit: number | undefined): number => {
  const end = Math.max(x(0), x(value)) + 5
  const stroke = limit === undefined ? Number.NEGATIVE_INFINITY : x(limit)
  return stroke > end - 5 && stroke < end + 32 ? stroke + 5 : end
}

/** Pairs of horizontal bars, base above trained, each with its number; axis from `range`, not from the data. */
export const barChart = ({ pairs, axis, range, ...words }: BarsOptions): string => {
  const height = margin.top + 20 + pairs.length * rowHeight + margin.bottom
  const x = scale(range, [labelWidth, width - margin.right - 40])
  const bottom = height - margin.bottom
  const rows = pairs.map(({ label, base, trained, limit }, i) => {
    const y = margin.top + 24 + i * rowHeight
    return [
      text(labelWidth - 10, y + 19, label, { 'text-anchor': 'end' }),
      bar('base', x(0), x(base), y),
      text(numberAt(x, base, limit), y + 12, base.toFixed(2)),
      bar('trained', x(0), x(trained), y + 17),
      text(numberAt(x, trained, limit), y + 29, trained.toFixed(2)),
      ...(limit === undefined
        ? []
        : [element('line', { class: 'limit', x1: x(limit), x2: x(limit), y1: y - 3, y2: y + 35 })]),
    ].join('')
  })
  const marks = ticks(...range).map((value) =>
    [
      element('line', { class: 'axis', x1: x(value), x2: x(value), y1: bottom, y2: bottom + 5 }),
      text(x(value), bottom + 18, tickText(value), { 'text-anchor': 'middle', class: 'muted' }),
    ].join(''),
  )
  const line = element('path', {
    class: 'axis',
    d: `M${x(range[0])} ${bottom}H${x(range[1])}M${x(0)} ${margin.top + 18}V${bottom}`,
  })
  const name = text((x(range[0]) + x(range[1])) / 2, height - 8, axis, { 'text-anchor': 'middle', class: 'muted' })
  return svg(words, width, height, [legend(labelWidth, margin.top + 6), ...rows, line, ...marks, name])
}
