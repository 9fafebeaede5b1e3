import type { RunCard, RunList } from '../view.ts'
import { compareRuns, mostCompared } from './compare.ts'
import { h, type Child } from './dom.ts'
import { ago, change, number, plural } from './format.ts'
import type { Page } from './page.ts'
import { addressOf, go, type Place } from './router.ts'
import { chosenOrder, ordered, runColumns, runOrder, type RunColumnName, type RunOrder } from './run-columns.ts'
import { nodeName, sparkline, stateBadge, table } from './ui.ts'

const listAddress = (query: URLSearchParams): string => {
  const text = query.toString()
  return text === '' ? '/' : `/?${text}`
}

/** The list with one thing exchanged; null takes it away. */
const addressWith = (query: URLSearchParams, name: string, value: string | null): string => {
  const next = new URLSearchParams(query)
  if (value === null || value === '') next.delete(name)
  else next.set(name, value)
  return listAddress(next)
}

const chosenOf = ({ query }: Place, runs: readonly RunCard[]): string[] =>
  query
    .getAll('run')
    .filter((id) => runs.some((run) => run.id === id))
    .slice(0, mostCompared)

const choose = (place: Place, chosen: readonly string[], id: string): HTMLElement =>
  h('input', {
    type: 'checkbox',
    'aria-label': `Compare ${id}`,
    checked: chosen.includes(id),
    disabled: chosen.length >= mostCompared && !chosen.includes(id),
    onchange: () => {
      const query = new URLSearchParams(place.query)
      query.delete('run')
      const others = chosen.filter((one) => one !== id)
      for (const one of chosen.includes(id) ? others : [...others, id]) query.append('run', one)
      go(listAddress(query), true)
    },
  })

/** Makes a run the one that the rewards of the others are held against, and takes that back. */
const pin = ({ query }: Place, id: string): HTMLElement => {
  const isPinned = query.get('pin') === id
  return h(
    'button',
    {
      ...{ type: 'button', class: 'small pin', 'aria-pressed': isPinned ? 'true' : 'false' },
      ...{ 'aria-label': `pin ${id}`, title: 'Hold the rewards of the other runs against this one' },
      onclick: () => go(addressWith(query, 'pin', isPinned ? null : id), true),
    },
    'pin',
  )
}

/** The last reward, and how it differs from that of the pinned run: where both can be as large. */
const rewardCell = (run: RunCard, pinned: RunCard | undefined): Child => {
  const own = `${number(run.lastReward)} of ${number(run.rewardMaximum)}`
  if (pinned === undefined || pinned.id === run.id) return own
  if (pinned.rewardMaximum !== run.rewardMaximum)
    return [h('div', {}, own), h('div', { class: 'note' }, 'other rewards than the baseline')]
  const delta = run.lastReward === null || pinned.lastReward === null ? null : run.lastReward - pinned.lastReward
  return [h('div', { class: 'brief' }, own), h('div', { class: 'brief' }, `${change(delta)} to baseline`)]
}

const changeCell = ({ heldout }: RunCard): Child => {
  const interval = heldout?.interval ?? null
  return [
    h('div', { class: 'brief' }, change(heldout?.delta)),
    interval === null ? null : h('div', { class: 'note brief' }, `${number(interval.low)} to ${number(interval.high)}`),
  ]
}

const worstCell = ({ heldout }: RunCard): Child => {
  const worst = heldout?.worst ?? null
  return worst === null ? '–' : [h('div', {}, nodeName(worst.node)), h('div', { class: 'brief' }, change(worst.delta))]
}

const alertsCell = ({ id, alerts: { warnings, notes } }: RunCard): Child => {
  if (warnings + notes === 0) return '–'
  const text = [warnings === 0 ? [] : `▲ ${plural(warnings, 'warning')}`, notes === 0 ? [] : plural(notes, 'note')]
  return h('a', { class: 'brief', href: `${addressOf(id, 'overview')}#alerts` }, text.flat().join(', '))
}

const cellsOf: Readonly<Record<RunColumnName, (place: Place, run: RunCard, runs: readonly RunCard[]) => Child>> = {
  run: (place, { id }, runs) =>
    h(
      'span',
      { class: 'run-cell', 'data-row': true },
      choose(place, chosenOf(place, runs), id),
      h('a', { href: addressOf(id, 'overview') }, id),
      pin(place, id),
    ),
  state: (_, { state }) => stateBadge(state),
  step: (_, { step, steps }) => `${step} / ${steps}`,
  curve: (_, { curve }) => sparkline(curve, 'total'),
  reward: ({ query }, run, runs) =>
    rewardCell(
      run,
      runs.find(({ id }) => id === query.get('pin')),
    ),
  heldout: (_, { heldout }) => (heldout === null ? '–' : `${number(heldout.base)} → ${number(heldout.trained)}`),
  change: (_, run) => changeCell(run),
  node: (_, run) => worstCell(run),
  alerts: (_, run) => alertsCell(run),
  model: (_, { model }) => model ?? '–',
  updated: (_, { updatedAt }) => (updatedAt === '' ? '–' : ago(updatedAt)),
}
const names = Object.keys(runColumns) as RunColumnName[]

const heading = ({ query }: Place, name: RunColumnName, order: RunOrder): Child => {
  const { title } = runColumns[name]
  const next = chosenOrder(name, order)
  if (next === null) return title
  const sign = order.column === name ? (order.direction === 'ascending' ? ' ▲' : ' ▼') : ''
  return h('a', { href: addressWith(query, 'sort', next), class: 'brief' }, `${title}${sign}`)
}

const empty = (directory: string): HTMLElement =>
  h(
    'div',
    { class: 'empty' },
    h('h1', {}, 'No runs yet'),
    h('p', {}, `There is no run in ${directory}. This starts one:`),
    h('pre', {}, 'npx train --config tiny.yaml'),
  )

const search = ({ query }: Place): HTMLElement => {
  const onchange = ({ currentTarget }: Event): void => {
    if (currentTarget instanceof HTMLInputElement) go(addressWith(query, 'text', currentTarget.value), true)
  }
  return h(
    'div',
    { class: 'filters', role: 'search' },
    h('label', {}, 'name, state or model', h('input', { type: 'search', value: query.get('text') ?? '', onchange })),
  )
}

/** Every word has to be somewhere in it. */
const passes = ({ id, state, model }: RunCard, text: string): boolean => {
  const own = `${id} ${state} ${model ?? ''}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => own.includes(word))
}

const problems = (runs: readonly RunCard[]): Child =>
  runs
    .filter(({ problem }) => problem !== null)
    .map(({ id, problem }) => h('p', { class: 'note' }, h('b', {}, id), `: ${problem}`))

export const runsPage: Page = {
  shows: [],
  draw: async (place) => {
    const response = await fetch('/api/runs')
    const { directory, runs } = (await response.json()) as RunList
    if (runs.length === 0) return empty(directory)
    const chosen = chosenOf(place, runs)
    const order = runOrder(place.query.get('sort'))
    const shown = ordered(
      runs.filter((run) => passes(run, place.query.get('text') ?? '')),
      order,
    )
    return h(
      'div',
      { class: 'list' },
      h('h1', {}, 'Runs'),
      h(
        'p',
        { class: 'note' },
        `${directory}. Choose two to ${mostCompared} to compare them, or pin one to hold the others against it. `,
        'Below a change: its 95 % interval.',
      ),
      search(place),
      table(
        'Runs',
        names.map((name) => heading(place, name, order)),
        shown.map((run) => ({ cells: names.map((name) => cellsOf[name](place, run, runs)) })),
        { column: names.indexOf(order.column), direction: order.direction },
      ),
      shown.length === 0 ? h('p', {}, 'No run is named so, in that state or of that model.') : null,
      problems(shown),
      chosen.length < 2 ? null : await compareRuns(chosen),
    )
  },
}
