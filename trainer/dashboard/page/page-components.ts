import type { ComponentCell, ComponentReply } from '../view.ts'
import { ask } from './api.ts'
import { csvOf } from './chart-frame.ts'
import { choice } from './choice.ts'
import { h, type Child } from './dom.ts'
import { downloadText } from './download.ts'
import { change, number, percent, words } from './format.ts'
import { nodeIds } from './nodes.ts'
import type { Page } from './page.ts'
import { addressOf, type Place } from './router.ts'
import { bar, nodeName, progressNote, section, table } from './ui.ts'

const views = {
  mean: 'mean',
  change: 'change since the first steps',
  maximum: 'share at the maximum',
  minimum: 'share at the minimum',
} as const
type View = keyof typeof views
const isView = (text: string | null): text is View => text !== null && Object.hasOwn(views, text)

const scales = { weighted: 'weighted: what it adds to R', raw: 'raw: what it gave, of 1' } as const
type ScaleName = keyof typeof scales

/** A contribution is the raw score times the weight, which is the largest contribution. */
const factor = (scale: ScaleName, maximum: number | undefined): number =>
  scale === 'weighted' ? 1 : 1 / (maximum ?? Number.NaN)

const cellText = (cell: ComponentCell, view: View, times: number): string => {
  if (view === 'mean') return number(times * cell.mean)
  if (view === 'change') return change(cell.before === null ? null : times * (cell.mean - cell.before))
  return percent(view === 'maximum' ? cell.atMaximum : cell.atMinimum)
}

const shareOf = (cell: ComponentCell, view: View, maximum: number): number => {
  if (view === 'maximum') return cell.atMaximum
  return view === 'minimum' ? cell.atMinimum : cell.mean / maximum
}

const matrix = (run: string, reply: ComponentReply, view: View, scale: ScaleName): HTMLElement => {
  const names = reply.components
  const cellOf = (component: string, node: string): Child => {
    const cell = reply.cells.find((one) => one.component === component && one.node === node)
    if (cell === undefined) return '–'
    const maximum = reply.maxima[component] ?? 1
    const address = `${addressOf(run, 'nodes', [], { node })}#${node}-${component}`
    return [
      h('a', { href: address }, cellText(cell, view, factor(scale, reply.maxima[component]))),
      bar(shareOf(cell, view, maximum), 'total', 70),
      cell.failed === 0 ? null : h('span', { class: 'note' }, `${cell.failed} unscored`),
    ]
  }
  const rows = names.map((component) => ({
    cells: [words(component), number(reply.maxima[component]), ...nodeIds.map((node) => cellOf(component, node))],
  }))
  return h(
    'div',
    { class: 'heat' },
    table(
      `Components by node: ${views[view]}`,
      ['component', scale === 'raw' ? 'weight' : 'maximum', ...nodeIds.map(nodeName)],
      rows,
    ),
  )
}

const correlations = ({ components, correlations: values }: ComponentReply): HTMLElement => {
  const names = [...components.map(words), 'tokens']
  return h(
    'div',
    { class: 'heat' },
    table(
      'Correlations',
      ['with', ...names],
      values.map((row, i) => ({ cells: [names[i], ...row.map((value) => number(value))] })),
    ),
  )
}

const rawMean = ({ mean }: ComponentCell, weight: number | undefined): number | null =>
  weight === undefined ? null : mean / weight

const csv = ({ cells, maxima }: ComponentReply): string =>
  csvOf(
    ['node', 'component', 'n', 'mean', 'raw mean', 'first steps', 'maximum', 'at maximum', 'at minimum', 'unscored'],
    cells.map((cell) => [
      cell.node,
      cell.component,
      cell.n,
      cell.mean,
      rawMean(cell, maxima[cell.component]),
      cell.before,
      maxima[cell.component] ?? null,
      cell.atMaximum,
      cell.atMinimum,
      cell.failed,
    ]),
  )

const choose = (place: Place, view: View, scale: ScaleName): Child => [
  choice(place, 'show', 'view', Object.entries(views), view),
  choice(place, 'as', 'as', Object.entries(scales), scale),
]

/** Contributions are kept in single precision, nine of them a total. */
const sumSlack = 1e-6

export const componentsPage: Page = {
  shows: ['rollouts'],
  draw: async (place) => {
    const run = place.run ?? ''
    const reply = await ask<ComponentReply>([run, 'components'])
    const asked = place.query.get('view')
    const view = isView(asked) ? asked : 'mean'
    const scale: ScaleName = place.query.get('as') === 'raw' ? 'raw' : 'weighted'
    const steps = reply.recent === null ? '' : `, completions of steps ${reply.recent[0]} to ${reply.recent[1]}`
    return h(
      'div',
      {},
      h('h1', {}, 'Components'),
      h(
        'p',
        { class: 'note' },
        `${scale === 'raw' ? 'Raw scores' : 'Weighted contributions to R'} at each node${steps}. A number leads to its curve.`,
      ),
      h(
        'div',
        { class: 'controls' },
        choose(place, view, scale),
        h('button', { type: 'button', onclick: () => downloadText('components.csv', csv(reply), 'text/csv') }, 'CSV'),
      ),
      matrix(run, reply, view, scale),
      h(
        'p',
        { class: 'note' },
        reply.sumError <= sumSlack ? '✓ ' : '✕ ',
        `Sum check: totals differ from the sum of their contributions by at most ${reply.sumError.toExponential(1)}.`,
      ),
      progressNote(reply.progress),
      section(
        'correlations',
        'What goes together',
        h(
          'p',
          { class: 'note' },
          'Pearson correlation over the same completions; – where one of the two does not vary.',
        ),
        correlations(reply),
      ),
    )
  },
}
