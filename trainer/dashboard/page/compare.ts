import type { Overview, SeriesReply } from '../view.ts'
import { ask } from './api.ts'
import { lineChart, type Line } from './chart.ts'
import { h, type Child } from './dom.ts'
import { number } from './format.ts'
import { nodeIds, nodes } from './nodes.ts'
import { addressOf } from './router.ts'
import { chartWidth, section, table } from './ui.ts'

/** More curves than that cannot be told apart. */
export const mostCompared = 5

const curves = {
  reward: 'Reward',
  kl: 'KL to the base',
  entropy: 'Entropy',
  frac_reward_zero_std: 'Groups that teach nothing',
} as const
const keys = [...Object.keys(curves), ...nodeIds.map((node) => `reward/${node}`)]

interface Compared {
  readonly id: string
  readonly overview: Overview
  readonly series: SeriesReply['current']
}

const read = async (id: string): Promise<Compared> => {
  const [overview, series] = await Promise.all([
    ask<Overview>([id]),
    ask<SeriesReply>([id, 'series'], new URLSearchParams({ keys: keys.join(',') })),
  ])
  return { id, overview, series: series.current }
}

/** Names and values of a config, `grpo.beta` and so on. */
export const flatten = (value: unknown, name = ''): readonly (readonly [name: string, text: string])[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, JSON.stringify(value) ?? '–']]
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, name === '' ? key : `${name}.${key}`))
}

const valuesOf = ({ overview }: Compared): ReadonlyMap<string, string> =>
  new Map(flatten((overview.config as { values?: unknown } | null)?.values ?? {}))

const configs = (runs: readonly Compared[]): Child => {
  const values = runs.map(valuesOf)
  const names = [...new Set(values.flatMap((own) => [...own.keys()]))].toSorted()
  const textsOf = (name: string): string[] => values.map((own) => own.get(name) ?? '–')
  const changed = names.filter((name) => new Set(textsOf(name)).size > 1)
  const rows = (list: readonly string[]) => list.map((name) => ({ cells: [name, ...textsOf(name)] }))
  const header = ['value', ...runs.map(({ id }) => id)]
  return [
    changed.length === 0
      ? h('p', { class: 'note' }, 'Their configs are equal.')
      : table('Values that differ', header, rows(changed)),
    h(
      'details',
      {},
      h('summary', {}, `${names.length - changed.length} values that are equal`),
      table('Values that are equal', header, rows(names.filter((name) => !changed.includes(name)))),
    ),
  ]
}

const chart = (runs: readonly Compared[], key: string, title: string): HTMLElement | null => {
  const x = [...new Set(runs.flatMap(({ series }) => series.steps))].toSorted((a, b) => a - b)
  const lines = runs.map(({ id, series }, i): Line => {
    const at = new Map(series.steps.map((step, place) => [step, series.values[key]?.[place] ?? null]))
    const look = nodeIds[i] ?? 'n1'
    const label = id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-8)}` : id
    return { name: id, label, look, marker: nodes[look].marker, values: x.map((step) => at.get(step) ?? null) }
  })
  if (lines.every(({ values }) => values.every((value) => value === null))) return null
  const maximum = Math.max(0, ...runs.map(({ overview }) => overview.card.rewardMaximum ?? 0))
  return lineChart({
    ...{ id: `compare-${key.replaceAll('/', '-')}`, title, x, xName: 'step', lines, smoothing: 0.6 },
    range: key.startsWith('reward') && maximum > 0 ? [0, maximum] : undefined,
    width: chartWidth(key === 'reward' ? 1 : 2),
    height: key === 'reward' ? 300 : 220,
  })
}

const nodeRewards = (runs: readonly Compared[]): HTMLElement => {
  const last = ({ series }: Compared, key: string): number | null => {
    const known = (series.values[key] ?? []).filter((value) => value !== null).slice(-20)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
  }
  return table(
    'Mean reward of the last 20 steps',
    ['node', ...runs.map(({ id }) => h('a', { href: addressOf(id, 'overview') }, id))],
    [
      { cells: [h('b', {}, 'all'), ...runs.map((run) => number(last(run, 'reward')))] },
      ...nodeIds.map((node) => ({
        cells: [`${node} ${nodes[node].tag}`, ...runs.map((run) => number(last(run, `reward/${node}`)))],
      })),
    ],
  )
}

/** Runs side by side: their curves over each other, and what differs in their configs. */
export const compareRuns = async (ids: readonly string[]): Promise<HTMLElement> => {
  const runs = await Promise.all(ids.map(read))
  return section(
    'compare',
    `Comparing ${ids.length} runs`,
    h(
      'div',
      { class: 'grid' },
      Object.entries(curves).map(([key, title]) => chart(runs, key, title)),
    ),
    h('h3', {}, 'By node, last 20 steps'),
    nodeRewards(runs),
    h('h3', {}, 'Configs'),
    configs(runs),
  )
}
