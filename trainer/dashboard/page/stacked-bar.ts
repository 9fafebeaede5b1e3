import { s } from './dom.ts'
import { percent } from './format.ts'

/** Parts of a whole in one bar, each with its name where there is room; a table beside it has the numbers. */
export const stackedBar = (
  parts: readonly { readonly name: string; readonly value: number }[],
  width: number,
  height = 34,
): SVGElement => {
  const whole = parts.reduce((sum, { value }) => sum + value, 0) || 1
  let left = 0
  const drawn = parts.flatMap(({ name, value }, i) => {
    const [x, own] = [left, (value / whole) * width]
    left += own
    const text = `${name} ${percent(value / whole)}`
    return [
      s('rect', { class: `part part-${i % 5}`, x, width: Math.max(0, own - 2), height, rx: 3 }, s('title', {}, text)),
      own > text.length * 7.5 ? s('text', { class: 'on-part', x: x + 8, y: height / 2 + 4 }, text) : null,
    ]
  })
  return s('svg', { class: 'stacked', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }, drawn)
}
