import type { RunCard, RunList } from '../view.ts'
import { compareRuns, mostCompared } from './compare.ts'
import { h, type Child } from './dom.ts'
import { ago, change, number } from './format.ts'
import type { Page } from './page.ts'
import { addressOf, go, type Place } from './router.ts'
import { sparkline, stateBadge, table } from './ui.ts'

const difference = ({ heldout }: RunCard): number | null =>
  heldout === null || heldout.base === null || heldout.trained === null ? null : heldout.trained - heldout.base

/** The list as it is asked for: what is compared, searched, and how it is ordered. */
const addressFor = (query: URLSearchParams): string => {
  const text = query.toString()
  return text === '' ? '/' : `/?${text}`
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
      const query = new URLSearchParams([...place.query].filter(([name]) => name !== 'run'))
      const others = chosen.filter((one) => one !== id)
      for (const one of chosen.includes(id) ? others : [...others, id]) query.append('run', one)
      go(addressFor(query), true)
    },
  })

const cells = (place: Place, chosen: readonly string[], run: RunCard): Child[] => [
  h(
    'span',
    { class: 'run-cell', 'data-row': true },
    choose(place, chosen, run.id),
    h('a', { href: addressOf(run.id, 'overview') }, run.id),
  ),
  stateBadge(run.state),
  `${run.step} / ${run.steps}`,
  sparkline(run.curve, 'total'),
  `${number(run.lastReward)} of ${number(run.rewardMaximum)}`,
  run.heldout === null ? '–' : `${number(run.heldout.base)} → ${number(run.heldout.trained)}`,
  change(difference(run)),
  run.model ?? '–',
  run.updatedAt === '' ? '–' : ago(run.updatedAt),
]

const header = [
  'run',
  'state',
  'step',
  'reward over steps',
  'reward, last 10',
  'held out, base → trained',
  'change',
  'model',
  'updated',
]

const orders: Readonly<Record<string, (run: RunCard) => number>> = {
  reward: ({ lastReward }) => -(lastReward ?? -Infinity),
  change: (run) => -(difference(run) ?? -Infinity),
}

const empty = (directory: string): HTMLElement =>
  h(
    'div',
    { class: 'empty' },
    h('h1', {}, 'No runs yet'),
    h('p', {}, `There is no run in ${directory}. This starts one:`),
    h('pre', {}, 'npx train --config tiny.yaml'),
  )

const controls = ({ query }: Place): HTMLElement => {
  const set = (name: string) => (event: Event) => {
    const control = event.currentTarget
    if (!(control instanceof HTMLInputElement || control instanceof HTMLSelectElement)) return
    const next = new URLSearchParams(query)
    if (control.value === '') next.delete(name)
    else next.set(name, control.value)
    go(addressFor(next), true)
  }
  const option = (value: string, text: string) =>
    h('option', { value, selected: (query.get('sort') ?? '') === value }, text)
  return h(
    'div',
    { class: 'filters', role: 'search' },
    h('label', {}, 'name', h('input', { type: 'search', value: query.get('text') ?? '', onchange: set('text') })),
    h(
      'label',
      {},
      'order',
      h(
        'select',
        { onchange: set('sort') },
        option('', 'latest'),
        option('reward', 'reward'),
        option('change', 'held-out change'),
      ),
    ),
  )
}

const problems = (runs: readonly RunCard[]): Child =>
  runs
    .filter(({ problem }) => problem !== null)
    .map(({ id, problem }) => h('p', { class: 'note' }, h('b', {}, id), `: ${problem}`))

export const runsPage: Page = {
  title: 'Runs',
  shows: [],
  draw: async (place) => {
    const response = await fetch('/api/runs')
    const { directory, runs } = (await response.json()) as RunList
    if (runs.length === 0) return empty(directory)
    const chosen = chosenOf(place, runs)
    const text = (place.query.get('text') ?? '').toLowerCase()
    const key = orders[place.query.get('sort') ?? '']
    const named = runs.filter(({ id }) => id.toLowerCase().includes(text))
    const shown = key === undefined ? named : named.toSorted((a, b) => key(a) - key(b))
    return h(
      'div',
      { class: 'list' },
      h('h1', {}, 'Runs'),
      h('p', { class: 'note' }, `${directory}. Choose two to ${mostCompared} to compare them.`),
      controls(place),
      table(
        'Runs',
        header,
        shown.map((run) => ({ cells: cells(place, chosen, run) })),
      ),
      problems(shown),
      chosen.length < 2 ? null : await compareRuns(chosen),
    )
  },
}
