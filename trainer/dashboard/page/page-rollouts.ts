import type { Overview, RolloutPage, RolloutRow } from '../view.ts'
import { ask, ProblemError } from './api.ts'
import { h, type Child } from './dom.ts'
import { change, number, plural, words } from './format.ts'
import { drawGroup } from './group.ts'
import { nodeIds, nodes } from './nodes.ts'
import { markNames, markOf } from './marks.ts'
import type { Page } from './page.ts'
import { addressOf, go, withQuery, type Place } from './router.ts'
import { textSearch } from './text-search.ts'
import { nodeName, notice, progressNote, table } from './ui.ts'

type Options = readonly (readonly [value: string, text: string])[]

const set = (place: Place, name: string) => (event: Event) => {
  const control = event.currentTarget
  if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement)
    go(withQuery(place, { [name]: control.value, page: null }), true)
}

const choice = (place: Place, name: string, title: string, options: Options): HTMLElement => {
  const chosen = place.query.get(name) ?? ''
  return h(
    'label',
    {},
    title,
    h(
      'select',
      { onchange: set(place, name) },
      options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
    ),
  )
}

const field = (place: Place, name: string, title: string, type: string): HTMLElement =>
  h(
    'label',
    {},
    title,
    h('input', {
      type,
      step: type === 'number' ? 'any' : null,
      value: place.query.get(name) ?? '',
      onchange: set(place, name),
    }),
  )

const filters = (place: Place, components: readonly string[]): HTMLElement =>
  h(
    'div',
    { class: 'filters', role: 'search' },
    textSearch(place, 'text of the completion'),
    choice(place, 'in', 'search in', [
      ['', 'completions'],
      ['reason', 'the judge’s reasons'],
    ]),
    choice(place, 'node', 'node', [
      ['', 'all'],
      ...nodeIds.map((node) => [node, `${node} ${nodes[node].short}`] as const),
    ]),
    field(place, 'from', 'from step', 'number'),
    field(place, 'to', 'to step', 'number'),
    field(place, 'least', 'R at least', 'number'),
    field(place, 'most', 'R at most', 'number'),
    choice(place, 'component', 'component', [['', 'any'], ...components.map((name) => [name, words(name)] as const)]),
    field(place, 'below', 'at most', 'number'),
    choice(place, 'finish', 'ended by', [
      ['', 'any'],
      ['stop', 'stop'],
      ['length', 'length'],
      ['abort', 'abort'],
    ]),
    choice(place, 'state', 'group', [
      ['', 'any'],
      ['learning', 'with signal'],
      ['dead', 'without signal'],
    ]),
    choice(place, 'error', 'error', [
      ['', 'with or without'],
      ['any', 'no score'],
      ...components.map((name) => [name, `no score: ${words(name)}`] as const),
    ]),
    choice(place, 'label', 'mark', [
      ['', 'with or without'],
      ['any', 'marked'],
      ...markNames.map((name) => [name, name] as const),
    ]),
    field(place, 'prompt', 'prompt id', 'search'),
    choice(place, 'sort', 'order', [
      ['', 'newest'],
      ['best', 'best R'],
      ['worst', 'worst R'],
      ['advantage', 'largest advantage'],
      ['longest', 'longest'],
      ['judge', 'highest judge'],
    ]),
    h('a', { href: addressOf(place.run ?? '', 'rollouts') }, 'clear'),
    h(
      'a',
      { href: `/api/runs/${encodeURIComponent(place.run ?? '')}/labels`, download: 'labels.jsonl' },
      'marks as JSONL',
    ),
  )

const row = (run: string, one: RolloutRow, isReason: boolean): readonly Child[] => [
  h(
    'span',
    { 'data-row': true },
    h(
      'a',
      { href: addressOf(run, 'rollouts', [one.step, one.group], { sample: one.sample }) },
      `${one.step} · ${one.group} · ${one.sample}`,
    ),
  ),
  nodeName(one.node),
  one.failedBy === null ? number(one.total) : `none: ${words(one.failedBy)}`,
  change(one.advantage),
  one.tokens,
  one.finishReason,
  one.dead ? 'no signal' : '',
  markOf(one),
  h('div', { class: 'excerpt' }, isReason ? (one.judge?.reason ?? '') : one.excerpt),
]

const pager = (place: Place, where: string, { page, pages, matches, isSearching }: RolloutPage): HTMLElement =>
  h(
    'nav',
    { class: 'pager', 'aria-label': `Pages, ${where} the list` },
    page > 0 ? h('a', { href: withQuery(place, { page: page - 1 }) }, '← before') : null,
    h(
      'span',
      { 'data-incomplete': isSearching },
      `page ${page + 1} of ${pages.toLocaleString('en')}, ${isSearching ? 'at least ' : ''}${plural(matches, 'completion')}`,
    ),
    page + 1 < pages ? h('a', { href: withQuery(place, { page: page + 1 }) }, 'next →') : null,
  )

const drawList = (place: Place, run: string, reply: RolloutPage): HTMLElement => {
  const isReason = place.query.get('in') === 'reason'
  return h(
    'div',
    { class: 'list' },
    h('h1', {}, 'Rollouts'),
    filters(place, reply.components),
    progressNote(reply.progress),
    reply.searchProblem === null ? null : notice('The search was given up:', reply.searchProblem),
    pager(place, 'above', reply),
    table(
      'Completions',
      [
        'step · group · sample',
        'node',
        'R',
        'advantage',
        'tokens',
        'ended by',
        'group',
        'mark',
        isReason ? 'the judge’s reason' : 'completion',
      ],
      reply.rows.map((one) => ({ cells: row(run, one, isReason) })),
    ),
    pager(place, 'below', reply),
  )
}

/** A filter that cannot be is said beside the filters, where it can be mended. */
const refused = (place: Place, error: unknown): HTMLElement => {
  if (!(error instanceof ProblemError) || error.status !== 400) throw error
  return h('div', { class: 'list' }, h('h1', {}, 'Rollouts'), filters(place, []), notice(error.message, error.remedy))
}

const list = async (place: Place, run: string): Promise<HTMLElement> => {
  const reply = await ask<RolloutPage>(
    [run, 'rollouts'],
    new URLSearchParams([...place.query].filter(([, value]) => value !== '')),
  ).catch((error: unknown) => error)
  if (reply instanceof Error) return refused(place, reply)
  return drawList(place, run, reply as RolloutPage)
}

export const rolloutsPage: Page = {
  shows: ['rollouts', 'labels'],
  draw: async (place) => {
    const run = place.run ?? ''
    const [step, group] = place.rest
    if (step === undefined || group === undefined) return list(place, run)
    const { maxima } = await ask<Overview>([run])
    return drawGroup(place, run, maxima, Number(step), Number(group))
  },
}
