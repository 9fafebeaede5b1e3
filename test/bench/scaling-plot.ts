/** One panel: what was measured at each size, in CPU seconds. */
export interface Curve {
  readonly title: string
  readonly points: readonly { readonly at: number; readonly sample: number; readonly update: number }[]
}

const panel = { width: 190, height: 150, left: 34, bottom: 34, top: 24 }
const inner = { width: panel.width - panel.left - 12, height: panel.height - panel.top - panel.bottom }

const style = `
  text { font: 10px sans-serif; fill: #333 }
  .axis { stroke: #999; fill: none }
  .sample { stroke: #b35900; fill: none; stroke-width: 2; stroke-dasharray: 5 3 }
  .update { stroke: #0b5fa5; fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .axis { stroke: #777 } .sample { stroke: #ffb066 } .update { stroke: #6cb8ff }
  }`

const text = (x: number, y: number, words: string, anchor = 'middle'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`

/** Sizes and seconds both start at 0: proportional growth is a straight line through the corner. */
const draw = ({ title, points }: Curve, index: number): string => {
  const widest = Math.max(...points.map((point) => point.at))
  const highest = Math.max(...points.flatMap((point) => [point.sample, point.update]))
  const x = (value: number): number => panel.left + (value / widest) * inner.width
  const y = (value: number): number => panel.top + inner.height - (value / highest) * inner.height
  const line = (part: 'sample' | 'update'): string => {
    const places = points.map((point) => `${x(point.at).toFixed(1)},${y(point[part]).toFixed(1)}`)
    return `<polyline class="${part}" points="${places.join(' ')}"/>`
  }
  const floor = panel.top + inner.height
  const ticks = points.map((point) => text(x(point.at), floor + 12, String(point.at)))
  const frame = `<path class="axis" d="M${String(panel.left)} ${String(panel.top)}V${String(floor)}H${String(panel.width - 12)}"/>`
  const labels = [
    text(panel.left - 3, panel.top + 4, highest.toFixed(1), 'end'),
    text(panel.left - 3, floor, '0', 'end'),
  ]
  const name = text(panel.left + inner.width / 2, floor + 26, title)
  return `<g transform="translate(${String(index * panel.width)} 0)">${[frame, ...ticks, ...labels, name, line('sample'), line('update')].join('')}</g>`
}

/** An SVG with one panel a curve and a legend; it follows the reader's light or dark scheme. */
export const plot = (curves: readonly Curve[]): string => {
  const width = curves.length * panel.width
  const legend = [
    '<path class="update" d="M34 10h20"/>',
    text(58, 13, 'update', 'start'),
    '<path class="sample" d="M110 10h20"/>',
    text(134, 13, 'sampling, CPU seconds', 'start'),
  ]
  const size = `width="${String(width)}" height="${String(panel.height)}" viewBox="0 0 ${String(width)} ${String(panel.height)}"`
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="CPU seconds of a step against its sizes">`
  return `${head}<style>${style}</style>${[...legend, ...curves.map(draw)].join('\n')}</svg>\n`
}
