import { cursor, leave } from './chart-cursor.ts'
import { chartFrame, type ChartFrame } from './chart-frame.ts'
import { s } from './dom.ts'
import { compact, number, plural } from './format.ts'
import { extent, logExtent, logScale, logTicks, scale, spread, ticks, type Scale } from './scale.ts'
import { smooth, thinned } from './smooth.ts'
import { xAxisOf } from './x-axis.ts'

type Values = readonly (number | null)[]

export interface Line {
  /** Name in tables and files; the label stands at the line's end. */
  readonly name: string
  readonly label?: string
  readonly values: Values
  /** Colour: a node, or a role such as `total`. */
  readonly look: string
  /** Shape at the line's end, in a box of 12. */
  readonly marker?: string
  readonly dashed?: boolean
}

export interface Band {
  readonly low: Values
  readonly high: Values
  readonly look: string
}

export interface LineChart {
  readonly id: string
  readonly title: string
  /** What bands and faint lines are. */
  readonly note?: string
  readonly x: readonly number[]
  readonly xName: string
  readonly lines: readonly Line[]
  readonly bands?: readonly Band[]
  /** Lines behind the others. With a name they have the places of the chart and stand in its table too. */
  readonly faint?: readonly { readonly name?: string; readonly x: readonly number[]; readonly values: Values }[]
  readonly points?: readonly { readonly x: number; readonly y: number; readonly label: string }[]
  /** Marks on the axis. */
  readonly ticks?: readonly { readonly x: number; readonly label: string }[]
  /** Fixed range; absent: what the data need. */
  readonly range?: readonly [number, number] | undefined
  /** A logarithmic axis is asked for. */
  readonly isLog?: boolean
  readonly smoothing?: number
  readonly width: number
  readonly height?: number
  readonly unit?: (value: number) => string
}

interface Plot {
  readonly x: Scale
  readonly y: Scale
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly range: readonly [number, number]
  readonly isLog: boolean
}

const pathOf = (xs: readonly number[], values: Values, { x, y }: Plot, buckets: number): string => {
  let path = ''
  let isOpen = false
  for (const i of thinned(values, buckets)) {
    const value = values[i]
    const at = xs[i]
    if (value === null || value === undefined || at === undefined) {
      isOpen = false
      continue
    }
    path += `${isOpen ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`
    isOpen = true
  }
  return path
}

/** Low and high hold the same steps; where one is missing the band has a gap. */
const bandPath = (xs: readonly number[], { low, high }: Band, plot: Plot): string => {
  const parts: string[] = []
  let run: number[] = []
  // A band may reach beyond a range that is fixed.
  const inside = (y: number): number => Math.max(plot.top, Math.min(plot.bottom, y))
  const close = (): void => {
    if (run.length > 1) {
      const point = (i: number, values: Values): string =>
        `${plot.x(xs[i] ?? 0).toFixed(1)} ${inside(plot.y(values[i] ?? 0)).toFixed(1)}`
      parts.push(
        `M${run.map((i) => point(i, high)).join('L')}L${run
          .toReversed()
          .map((i) => point(i, low))
          .join('L')}Z`,
      )
    }
    run = []
  }
  for (const i of xs.keys()) {
    if (low[i] === null || low[i] === undefined || high[i] === null || high[i] === undefined) close()
    else run.push(i)
  }
  close()
  return parts.join('')
}

const axes = (plot: Plot, domain: readonly [number, number], chart: LineChart): SVGElement[] => {
  const unit = chart.unit ?? compact
  const [low, high] = plot.range
  const rows = plot.isLog
    ? logTicks(low, high)
    : ticks(low, high, Math.max(2, Math.floor((plot.bottom - plot.top) / 36)))
  const axis = xAxisOf(chart)
  const columns = axis.ticks(domain[0], domain[1], Math.max(2, Math.floor((plot.right - plot.left) / 90)))
  return [
    ...rows.flatMap((value) => [
      s('line', { class: 'grid', x1: plot.left, x2: plot.right, y1: plot.y(value), y2: plot.y(value) }),
      s('text', { class: 'tick', x: plot.left - 6, y: plot.y(value) + 4, 'text-anchor': 'end' }, unit(value)),
    ]),
    s('line', { class: 'axis', x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom }),
    ...columns.map((value) =>
      s(
        'text',
        { class: 'tick', x: plot.x(value), y: plot.bottom + 16, 'text-anchor': 'middle' },
        axis.mark(value, columns),
      ),
    ),
    s('text', { class: 'tick', x: plot.right, y: plot.bottom + 31, 'text-anchor': 'end' }, chart.xName),
  ]
}

const lastIndex = (values: Values): number => values.findLastIndex((value) => value !== null)

const endLabels = (chart: LineChart, drawn: readonly Values[], plot: Plot): SVGElement[] => {
  const ends = chart.lines.map((_, i) => lastIndex(drawn[i] ?? []))
  const heights = ends.map((end, i) => plot.y(drawn[i]?.[end] ?? 0))
  const placed = spread(heights, 14, plot.bottom)
  return chart.lines.flatMap(({ label, look, marker }, i) => {
    const end = ends[i] ?? -1
    if (end === -1) return []
    const at = plot.x(chart.x[end] ?? 0)
    const shape =
      marker === undefined
        ? []
        : [
            s('path', {
              class: `fill ${look}`,
              d: marker,
              transform: `translate(${at.toFixed(1)} ${(heights[i] ?? 0).toFixed(1)})`,
            }),
          ]
    const text = label === undefined ? [] : [s('text', { class: 'label', x: at + 9, y: (placed[i] ?? 0) + 4 }, label)]
    return [...shape, ...text]
  })
}

const marks = (chart: LineChart, drawn: readonly Values[], plot: Plot): SVGElement[] => {
  const buckets = Math.max(10, Math.floor(plot.right - plot.left))
  const raw = (chart.smoothing ?? 0) > 0
  return [
    ...(chart.bands ?? []).map((band) => s('path', { class: `band ${band.look}`, d: bandPath(chart.x, band, plot) })),
    ...(chart.faint ?? []).map(({ x, values }) =>
      s('path', { class: 'line faint', d: pathOf(x, values, plot, buckets) }),
    ),
    ...chart.lines.flatMap(({ values, look }) =>
      raw ? [s('path', { class: `line raw ${look}`, d: pathOf(chart.x, values, plot, buckets) })] : [],
    ),
    ...chart.lines.map(({ look, dashed }, i) =>
      s('path', {
        class: `line ${look}${dashed === true ? ' dashed' : ''}`,
        d: pathOf(chart.x, drawn[i] ?? [], plot, buckets),
      }),
    ),
    ...(chart.points ?? []).map(({ x, y, label }) =>
      s(
        'path',
        {
          class: 'point',
          d: 'M0-5L5 0L0 5L-5 0Z',
          transform: `translate(${plot.x(x).toFixed(1)} ${plot.y(y).toFixed(1)})`,
        },
        s('title', {}, label),
      ),
    ),
    ...(chart.ticks ?? []).map(({ x, label }) =>
      s('path', { class: 'event', d: `M${plot.x(x).toFixed(1)} ${plot.bottom}l-4-7h8Z` }, s('title', {}, label)),
    ),
    ...endLabels(chart, drawn, plot),
  ]
}

/** What stands at one place of the axis, in words. */
const told =
  (chart: LineChart) =>
  (place: number): string[] => {
    const unit = chart.unit ?? ((value: number) => number(value, 3))
    return [
      `${chart.xName} ${xAxisOf(chart).text(chart.x[place] ?? 0)}`,
      ...chart.lines.map(({ name, values }) => {
        const value = values[place]
        return `${name} ${value === null || value === undefined ? '–' : unit(value)}`
      }),
    ]
  }

/** In words what the lines do: the chart's alternative for those who do not see it. */
const sentence = ({ lines, x, xName }: LineChart): string => {
  const { text } = xAxisOf({ xName })
  const changes = lines.map(({ name, values }) => {
    const [first, last] = [values.find((value) => value !== null), values[lastIndex(values)]]
    if (first === undefined || first === null || last === undefined || last === null) return `${name}: no values`
    const delta = last - first
    return `${name} ${compact(first)} to ${compact(last)} (${delta < 0 ? '' : '+'}${compact(delta)})`
  })
  return x.length === 0
    ? 'No steps yet.'
    : `${changes.join('; ')}, over ${xName} ${text(x[0] ?? 0)} to ${text(x.at(-1) ?? 0)}.`
}

const rightMargin = (lines: readonly Line[]): number => {
  const longest = Math.max(0, ...lines.map(({ label }) => label?.length ?? 0))
  return longest === 0 ? 14 : 18 + longest * 6.8
}

/** Range of the values, and whether its axis is logarithmic. */
const rangeOf = (chart: LineChart): Pick<Plot, 'range' | 'isLog'> => {
  const marked = [...chart.lines.flatMap(({ values }) => values), ...(chart.points ?? []).map(({ y }) => y)]
  const log = chart.isLog === true ? logExtent(marked) : null
  if (log !== null) return { range: log, isLog: true }
  const bands = (chart.bands ?? []).flatMap(({ low, high }) => [...low, ...high])
  const faint = (chart.faint ?? []).flatMap(({ values }) => values)
  return { range: chart.range ?? extent([...marked, ...bands, ...faint]), isLog: false }
}

/** What the reader should know of a chart: what it shows, and why its axis is not as asked for. */
const noteOf = ({ note, isLog, lines }: LineChart, plot: Plot): string | undefined => {
  if (isLog !== true) return note
  const zeros = lines.flatMap(({ values }) => values).filter((value) => value === 0).length
  const said = plot.isLog
    ? zeros === 0
      ? 'Logarithmic.'
      : `Logarithmic; zero is left out (${plural(zeros, 'value')}).`
    : 'Linear: no logarithm of these values.'
  return note === undefined ? said : `${note} ${said}`
}

/** Lines over steps: the smoothed values, the raw ones faint behind them, and everything as a table and as files. */
export const lineChart = (chart: LineChart): HTMLElement => {
  const { width, height = 220, lines } = chart
  const [{ range, isLog }, faintX] = [rangeOf(chart), (chart.faint ?? []).flatMap(({ x }) => x)]
  const known = (values: Values): Values => (isLog ? values.map((value) => (value === 0 ? null : value)) : values)
  const drawn = lines.map(({ values }) => smooth(known(values), chart.smoothing ?? 0))
  const last = Math.max(chart.x.at(-1) ?? 1, ...faintX, ...(chart.points ?? []).map(({ x }) => x))
  const domain: [number, number] = [Math.min(chart.x[0] ?? 0, ...faintX), last]
  const box = { left: 50, right: width - rightMargin(lines), top: 8, bottom: height - 38 }
  const y = (isLog ? logScale : scale)(range, [box.bottom, box.top])
  const plot: Plot = { ...box, range, isLog, x: scale(domain, [box.left, box.right]), y }
  const shown = { ...chart, lines: lines.map((line) => ({ ...line, values: known(line.values) })) }
  const picture = s(
    'svg',
    {
      class: 'chart',
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      'aria-hidden': 'true',
      onpointermove: cursor({ width, ...box, at: chart.x.map(plot.x), texts: told(chart) }),
      onpointerleave: leave,
    },
    ...axes(plot, domain, chart),
    ...marks(shown, drawn, plot),
    s('g', { class: 'cursor' }),
  )
  const columns = [...lines, ...(chart.faint ?? []).filter(({ name }) => name !== undefined)]
  const frame: ChartFrame = {
    ...{ id: chart.id, title: chart.title, note: noteOf(chart, plot), picture, caption: sentence(chart) },
    header: [chart.xName, ...columns.map(({ name = '' }) => name)],
    rows: chart.x.map((at, i) => [xAxisOf(chart).cell(at), ...columns.map(({ values }) => values[i] ?? null)]),
  }
  return chartFrame(frame)
}
