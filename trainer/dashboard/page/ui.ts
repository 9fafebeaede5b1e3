import type { NodeId } from '../../../data/records/node.ts'
import type { IndexProgress, RunState } from '../view.ts'
import { h, s, type Child } from './dom.ts'
import { plural } from './format.ts'
import { markerIcon, nodes } from './nodes.ts'
import { extent, scale } from './scale.ts'

/** Sign before colour: what a state is can be read without it. */
const stateSigns = {
  starting: '◌',
  running: '●',
  evaluating: '●',
  paused: '‖',
  finished: '✓',
  stopped: '■',
  aborted: '■',
  failed: '✕',
  lost: '?',
  unreadable: '✕',
} as const satisfies Record<RunState, string>

export const stateBadge = (state: RunState): HTMLElement =>
  h('span', { class: `badge state-${state}` }, `${stateSigns[state]} ${state}`)

export const nodeName = (node: NodeId): HTMLElement =>
  h('span', { class: 'node-name' }, markerIcon(node), h('b', {}, node), ` ${nodes[node].tag}`)

export const tile = (name: string, value: Child, detail: Child = null, tone = ''): HTMLElement =>
  h(
    'div',
    { class: `tile ${tone}` },
    h('dt', {}, name),
    h('dd', { class: 'big' }, value),
    h('dd', { class: 'detail' }, detail),
  )

export const section = (id: string, title: string, ...children: readonly Child[]): HTMLElement =>
  h('section', { id, 'aria-labelledby': `${id}-h` }, h('h2', { id: `${id}-h` }, title), ...children)

/** A share as a bar with its text beside it; the bar says nothing that the text does not. */
export const bar = (share: number, look: string, width = 96): SVGElement =>
  s(
    'svg',
    { class: 'bar', width, height: 10, viewBox: `0 0 ${width} 10`, 'aria-hidden': 'true' },
    s('rect', { class: 'bar-ground', width, height: 10, rx: 2 }),
    s('rect', { class: `fill ${look}`, width: Math.max(0, Math.min(1, share)) * width, height: 10, rx: 2 }),
  )

/** A small curve without axes: the numbers stand elsewhere. */
export const sparkline = (values: readonly (number | null)[], look: string, width = 120, height = 28): SVGElement => {
  const [x, y] = [scale([0, Math.max(1, values.length - 1)], [2, width - 2]), scale(extent(values), [height - 3, 3])]
  const points = values.flatMap((value, i) => (value === null ? [] : [`${x(i).toFixed(1)} ${y(value).toFixed(1)}`]))
  return s(
    'svg',
    { class: 'spark', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    points.length === 0 ? null : s('path', { class: `line ${look}`, d: `M${points.join('L')}` }),
  )
}

export const notice = (title: string, ...children: readonly Child[]): HTMLElement =>
  h('div', { class: 'notice', role: 'note' }, h('b', {}, title), ' ', ...children)

export const progressNote = ({ filesDone, files, rollouts, unreadable, textsLeftOut }: IndexProgress): HTMLElement =>
  h(
    'p',
    { class: 'note', 'data-incomplete': filesDone < files },
    `${plural(rollouts, 'completion')} from ${plural(filesDone, 'step')} on record`,
    filesDone < files ? `; ${files - filesDone} older steps are still being read` : '',
    unreadable === 0 ? '' : `; ${plural(unreadable, 'line')} could not be read`,
    textsLeftOut === 0 ? '' : `; texts of ${plural(textsLeftOut, 'step')} are not searched`,
    '.',
  )

/** A few figures stay in one line, however narrow the screen. */
const isBrief = (cell: Child): boolean => typeof cell === 'string' && cell.length <= 32

/** The column that the rows of a table are ordered by. */
export interface Sorted {
  readonly column: number
  readonly direction: 'ascending' | 'descending'
}

/** A table from texts and elements; the first column heads its row. */
export const table = (
  caption: string,
  header: readonly Child[],
  rows: readonly { readonly key?: string; readonly cells: readonly Child[]; readonly look?: string }[],
  sorted: Sorted | null = null,
): HTMLElement =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      h('caption', { class: 'hidden' }, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          header.map((cell, i) =>
            h('th', { scope: 'col', 'aria-sort': i === sorted?.column ? sorted.direction : null }, cell),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(({ cells, look }) =>
          h(
            'tr',
            { class: look },
            cells.map((cell, i) =>
              i === 0 ? h('th', { scope: 'row' }, cell) : h('td', { class: isBrief(cell) ? 'brief' : null }, cell),
            ),
          ),
        ),
      ),
    ),
  )

const mostWidth = 1480
const [gap, padding, leastWidth] = [16, 34, 290]

/** Width of a chart where so many stand side by side; fewer do on a narrow screen. */
export const chartWidth = (wanted: number, share = 1): number => {
  const content = (Math.min(mostWidth, document.documentElement.clientWidth) - 48) * share
  const columns = Math.max(1, Math.min(wanted, Math.floor((content + gap) / (leastWidth + gap))))
  return Math.floor((content - gap * (columns - 1)) / columns) - padding
}
