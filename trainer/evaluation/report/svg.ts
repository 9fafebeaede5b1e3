import { escapeXml } from '../markup.ts'
import { chartStyle } from './palette.ts'

export interface ChartText {
  readonly id: string
  readonly title: string
  /** What the chart shows, in a sentence: its text alternative. */
  readonly description: string
}

/** Room around the plot, for axes and their names. */
export const margin = { top: 16, right: 24, bottom: 44, left: 56 }

const round = (value: number): string => String(Math.round(value * 100) / 100)

type Attributes = Readonly<Record<string, string | number>>

const attributesOf = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${typeof value === 'number' ? round(value) : escapeXml(value)}"`)
    .join('')

export const element = (name: string, attributes: Attributes, ...children: readonly string[]): string =>
  children.length === 0
    ? `<${name}${attributesOf(attributes)}/>`
    : `<${name}${attributesOf(attributes)}>${children.join('')}</${name}>`

export const text = (x: number, y: number, content: string, attributes: Attributes = {}): string =>
  element('text', { x, y, ...attributes }, escapeXml(content))

/** Wraps marks into a whole picture that stands alone: own styles, title and description for those who cannot see it. */
export const svg = (
  { id, title, description }: ChartText,
  width: number,
  height: number,
  marks: readonly string[],
): string =>
  element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-labelledby': `${id}-title ${id}-desc`,
    },
    element('title', { id: `${id}-title` }, escapeXml(title)),
    element('desc', { id: `${id}-desc` }, escapeXml(description)),
    `<style>${chartStyle}</style>`,
    element('rect', { class: 'bg', width, height }),
    ...marks,
  )

/** Maps values to pixels. */
export type Scale = (value: number) => number
export const scale =
  ([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale =>
  (value) =>
    start + ((value - from) / (to - from || 1)) * (end - start)

/** Three to seven round numbers that cover a range. */
export const ticks = (low: number, high: number): number[] => {
  const rough = (high - low || 1) / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power
  const first = Math.ceil(low / step - 1e-9)
  const count = Math.floor(high / step + 1e-9) - first
  return Array.from({ length: count + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

export const tickText = (value: number): string => String(value).replace('-', '−')

/** Dashed and hollow is the base, solid the trained model: said in every chart that has both. */
export const legend = (x: number, y: number): string =>
  [
    element('rect', { class: 'base', x, y: y - 10, width: 22, height: 10 }),
    text(x + 28, y, 'base'),
    element('rect', { class: 'trained', x: x + 72, y: y - 10, width: 22, height: 10 }),
    text(x + 100, y, 'trained'),
  ].join('')
