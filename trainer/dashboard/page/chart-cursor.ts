import { s } from './dom.ts'

/** What the cursor of a chart needs to know of it. */
interface Followed {
  readonly width: number
  readonly top: number
  readonly bottom: number
  /** Pixels of the places that it can stand at. */
  readonly at: readonly number[]
  /** Lines of text at each of them. */
  readonly texts: (place: number) => readonly string[]
}

/** Follows the pointer with a line and the numbers at the nearest step. */
export const cursor =
  ({ width, top, bottom, at, texts }: Followed) =>
  (event: Event): void => {
    if (!(event instanceof PointerEvent) || !(event.currentTarget instanceof SVGElement)) return
    const svg = event.currentTarget
    const box = svg.getBoundingClientRect()
    const pixel = ((event.clientX - box.left) / box.width) * width
    let [nearest, distance] = [-1, Infinity]
    for (const [i, place] of at.entries()) {
      const away = Math.abs(place - pixel)
      if (away < distance) [nearest, distance] = [i, away]
    }
    const group = svg.querySelector('.cursor')
    if (group === null || nearest === -1) return
    const [x, told] = [at[nearest] ?? 0, texts(nearest)]
    const tipWidth = Math.max(...told.map((text) => text.length)) * 6.6 + 12
    const left = x + tipWidth + 10 > width ? x - tipWidth - 8 : x + 8
    group.replaceChildren(
      s('line', { class: 'axis', x1: x, x2: x, y1: top, y2: bottom }),
      s('rect', { class: 'tip', x: left, y: top, width: tipWidth, height: told.length * 15 + 8, rx: 4 }),
      ...told.map((text, i) => s('text', { class: 'tick', x: left + 6, y: top + 15 + i * 15 }, text)),
    )
  }

export const leave = (event: Event): void => {
  if (event.currentTarget instanceof SVGElement) event.currentTarget.querySelector('.cursor')?.replaceChildren()
}
