import { copyButton } from './copy.ts'
import { h } from './dom.ts'
import { downloadPng, downloadSvg, downloadText } from './download.ts'
import { compact } from './format.ts'

export type Cell = number | string | null

export interface ChartFrame {
  readonly id: string
  readonly title: string
  readonly note?: string | undefined
  readonly picture: SVGElement
  /** The picture in words. */
  readonly caption: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

const quoted = (cell: Cell): string => {
  const text = cell === null ? '' : String(cell)
  // A spreadsheet must not take a text for a formula.
  const safe = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const csvOf = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => row.map(quoted).join(',')).join('\n') + '\n'

const cellText = (cell: Cell): string => {
  if (cell === null) return '–'
  return typeof cell === 'number' ? compact(cell) : cell
}

/** A long table is drawn when somebody opens it. */
const drawTable =
  ({ header, rows }: ChartFrame) =>
  (event: Event): void => {
    const details = event.currentTarget
    if (!(details instanceof HTMLDetailsElement) || !details.open) return
    details.querySelector('.scroll')?.replaceChildren(
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            header.map((name) => h('th', { scope: 'col' }, name)),
          ),
        ),
        h(
          'tbody',
          {},
          rows.map((row) =>
            h(
              'tr',
              {},
              row.map((cell) => h('td', { class: 'number' }, cellText(cell))),
            ),
          ),
        ),
      ),
    )
  }

const pictureOf = (event: Event): SVGElement | null => {
  const button = event.currentTarget
  return button instanceof Element ? (button.closest('figure')?.querySelector<SVGElement>('svg.chart') ?? null) : null
}

/** A picture with its title, its words, its numbers, and its files. */
export const chartFrame = (frame: ChartFrame): HTMLElement => {
  const { id, title, note, picture, caption, header, rows } = frame
  const button = (name: string, what: string, onclick: (event: MouseEvent) => void): HTMLElement =>
    h('button', { type: 'button', class: 'small', 'aria-label': `${name} of ${title}`, title: what, onclick }, name)
  return h(
    'figure',
    { class: 'card', id, 'aria-labelledby': `${id}-title` },
    h(
      'div',
      { class: 'card-head' },
      h('h3', { id: `${id}-title` }, title),
      h(
        'span',
        { class: 'tools' },
        button('CSV', 'Download the numbers', () => downloadText(`${id}.csv`, csvOf(header, rows), 'text/csv')),
        button('SVG', 'Download the picture', (event) => downloadSvg(`${id}.svg`, pictureOf(event))),
        button('PNG', 'Download the picture', (event) => void downloadPng(`${id}.png`, pictureOf(event))),
        copyButton('Link', `Copy the address of ${title}`, () => {
          history.replaceState(null, '', `#${id}`)
          return location.href
        }),
      ),
    ),
    picture,
    h(
      'figcaption',
      {},
      h('span', { class: 'words' }, caption),
      note === undefined ? null : h('span', { class: 'note' }, ` ${note}`),
    ),
    h(
      'details',
      { ontoggle: drawTable(frame) },
      h('summary', {}, 'Show as table'),
      h('div', { class: 'scroll', 'data-key': `${id}-table` }),
    ),
  )
}
