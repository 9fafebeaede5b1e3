import type { RolloutPage, RolloutRow } from '../view.ts'
import { ask, ProblemError } from './api.ts'
import { h, type Child } from './dom.ts'
import { number, plural } from './format.ts'
import { markOf } from './marks.ts'
import { addressOf, type Place } from './router.ts'
import { textSearch } from './text-search.ts'
import { nodeName, notice, progressNote, section, table } from './ui.ts'

const mostShown = 20

const cells = (run: string, row: RolloutRow): Child[] => [
  h(
    'span',
    { 'data-row': true },
    h(
      'a',
      { href: addressOf(run, 'rollouts', [row.step, row.group], { sample: row.sample }) },
      `${row.step} · ${row.group} · ${row.sample}`,
    ),
    markOf(row),
  ),
  nodeName(row.node),
  number(row.judge?.score),
  number(row.total),
  h('div', { class: 'excerpt' }, row.judge?.reason ?? ''),
]

const found = (run: string, query: Readonly<Record<string, string>>, reply: RolloutPage): Child => {
  const { rows, matches, isSearching, searchProblem } = reply
  const all = addressOf(run, 'rollouts', [], { ...query, in: 'reason' })
  return [
    searchProblem === null ? null : notice('The search was given up:', searchProblem),
    h(
      'p',
      { class: 'note', 'data-incomplete': isSearching },
      `${isSearching ? 'at least ' : ''}${plural(matches, 'completion')}, the newest first. `,
      matches > mostShown ? h('a', { href: all }, 'All of them, with more filters →') : '',
    ),
    progressNote(reply.progress),
    table(
      'Completions by what the judge said',
      ['step · group · sample', 'node', 'judge', 'R', 'reason'],
      rows.slice(0, mostShown).map((row) => ({ cells: cells(run, row) })),
    ),
  ]
}

/** Looks for words in the reasons that the judge gave. */
export const judgeSaid = async (place: Place, run: string): Promise<HTMLElement> => {
  const query: Record<string, string> = {}
  for (const name of ['text', 'regex', 'node']) {
    const value = place.query.get(name)
    if (value !== null && value !== '') query[name] = value
  }
  const isAsked = query['text'] !== undefined
  const reply = isAsked
    ? await ask<RolloutPage>([run, 'rollouts'], new URLSearchParams({ ...query, in: 'reason' })).catch(
        (error: unknown) => {
          if (error instanceof ProblemError && error.status === 400) return error
          throw error
        },
      )
    : null
  const told = reply instanceof ProblemError ? notice(reply.message) : reply === null ? null : found(run, query, reply)
  return section(
    'said',
    'What the judge said',
    h('div', { class: 'filters', role: 'search' }, textSearch(place, 'text of the judge’s reasons')),
    told,
  )
}
