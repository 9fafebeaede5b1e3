import type { NodeId } from '../../../data/records/node.ts'
import type { EvaluationReply, NodeReply, NodeSummary, Overview, Series, SeriesReply } from '../view.ts'
import { ask, ProblemError } from './api.ts'
import { chartControls, placeSteps, xNames, xOf } from './axis.ts'
import { lineChart } from './chart.ts'
import { h, type Child } from './dom.ts'
import { nodeDeltas } from './node-deltas.ts'
import { change, mean, number, percent, words } from './format.ts'
import { heldBack } from './held-back.ts'
import { isNode, nodeIds, nodes } from './nodes.ts'
import { chartSettings, type Page } from './page.ts'
import { rolloutCard } from './rollout-card.ts'
import { addressOf, withQuery, type Place } from './router.ts'
import { deadStrip } from './strip.ts'
import { bar, chartWidth, nodeName, progressNote, section, sparkline } from './ui.ts'

interface Data {
  readonly place: Place
  readonly run: string
  readonly overview: Overview
  readonly series: SeriesReply
  readonly reply: NodeReply
  readonly evaluation: EvaluationReply | null
}

const tail = 20

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const recentShare = (part: readonly number[], whole: readonly number[]): number | null => {
  const [a, b] = [part.slice(-tail), whole.slice(-tail)]
  return sum(b) === 0 ? null : sum(a) / sum(b)
}

const standing = (values: readonly (number | null)[], maximum: number | null): Child[] => {
  const [now, before] = [mean(values.slice(-tail)), mean(values.slice(0, tail))]
  const delta = now === null || before === null || values.length < 2 * tail ? null : now - before
  return [
    h('p', { class: 'big' }, number(now), h('span', { class: 'note' }, ` of ${number(maximum)}`)),
    bar(now === null || maximum === null ? 0 : now / maximum, 'total', 160),
    h(
      'p',
      { class: 'note' },
      delta === null ? `last ${Math.min(tail, values.length)} steps` : `${change(delta)} since the first ${tail} steps`,
    ),
  ]
}

const heldBackList = (series: Series, node: NodeId, maxima: Readonly<Record<string, number>>): HTMLElement => {
  const missing = heldBack(series, node, maxima)
    .filter((one) => one.missing > 0.005)
    .slice(0, 3)
  if (missing.length === 0) return h('p', { class: 'note' }, 'nothing: every component is at its maximum')
  return h(
    'ol',
    { class: 'missing' },
    missing.map((one) =>
      h(
        'li',
        {},
        h('span', {}, words(one.component)),
        bar(one.mean / one.maximum, 'total', 80),
        h('span', { class: 'number' }, `−${number(one.missing)} of ${number(one.maximum)}`),
      ),
    ),
  )
}

/** One node in one look: how it stands, where it goes, what holds it back, where its groups are dead. */
const row = ({ place, overview, series }: Data, summary: NodeSummary, chosen: NodeId): HTMLElement => {
  const { node } = summary
  const values = series.current.values[`reward/${node}`] ?? []
  const dead = recentShare(summary.dead, summary.groups)
  return h(
    'a',
    {
      class: `node-row${node === chosen ? ' chosen' : ''}`,
      href: withQuery(place, { node }),
      'aria-current': node === chosen ? 'true' : null,
    },
    h('div', {}, h('h2', {}, nodeName(node)), standing(values, overview.card.rewardMaximum)),
    h('div', {}, h('p', { class: 'mini' }, 'reward over steps'), sparkline(values, node, 260, 76)),
    h('div', {}, h('p', { class: 'mini' }, 'held back by'), heldBackList(series.current, node, overview.maxima)),
    h(
      'div',
      {},
      h('p', { class: 'mini' }, 'groups that teach nothing'),
      deadStrip(summary),
      h(
        'p',
        { class: 'note' },
        dead === null
          ? 'no groups on record'
          : `${percent(dead)} in the last ${Math.min(tail, summary.steps.length)} steps with this node`,
      ),
    ),
  )
}

const fan = ({ place, overview, series }: Data, summary: NodeSummary): HTMLElement => {
  const settings = chartSettings(place)
  const { node } = summary
  const quantile = (level: number) => summary.quantiles.map((values) => values[level] ?? null)
  const max = overview.card.rewardMaximum
  const metrics = new Map(
    series.current.steps.map((step, i) => [step, series.current.values[`reward/${node}`]?.[i] ?? null]),
  )
  return lineChart({
    id: `distribution-${node}`,
    title: `Distribution of the reward at ${node} ${nodes[node].tag}`,
    note: 'Bands: 10 to 90 % and 25 to 75 % of completions; line: mean.',
    x: placeSteps(series.current, settings, summary.steps),
    xName: xNames[settings.x],
    lines: [
      {
        name: 'mean',
        values: summary.steps.map((step) => metrics.get(step) ?? null),
        look: node,
        marker: nodes[node].marker,
      },
    ],
    bands: [
      { low: quantile(0), high: quantile(4), look: node },
      { low: quantile(1), high: quantile(3), look: node },
    ],
    range: settings.isWhole && max !== null ? [Math.min(0, ...quantile(0).map((value) => value ?? 0)), max] : undefined,
    smoothing: settings.smoothing,
    isLog: settings.isLog,
    width: chartWidth(2),
    height: 240,
  })
}

const shares = (summary: NodeSummary, part: readonly number[], whole: readonly number[]) =>
  summary.steps.map((_, i) => (part[i] ?? 0) / Math.max(1, whole[i] ?? 1))

const detailCharts = (data: Data, summary: NodeSummary): Child[] => {
  const settings = chartSettings(data.place)
  const { node } = summary
  const { current } = data.series
  const { smoothing, isLog } = settings
  const x = placeSteps(current, settings, summary.steps)
  const common = { xName: xNames[settings.x], x, smoothing, isLog, width: chartWidth(2), height: 180 }
  const width = chartWidth(3)
  return [
    fan(data, summary),
    lineChart({
      ...common,
      ...{ id: `dead-${node}`, title: 'Groups that teach nothing', range: [0, 1], unit: (value) => percent(value) },
      lines: [{ name: 'dead share', values: shares(summary, summary.dead, summary.groups), look: node }],
      height: 240,
    }),
    lineChart({
      ...common,
      ...{ id: `length-${node}`, title: 'Mean length, tokens' },
      lines: [{ name: 'tokens', values: summary.meanTokens, look: node }],
    }),
    lineChart({
      ...common,
      ...{ id: `cut-${node}`, title: 'Completions cut off', range: [0, 1], unit: (value) => percent(value) },
      lines: [{ name: 'cut off', values: shares(summary, summary.truncated, summary.completions), look: node }],
    }),
    ...Object.entries(data.overview.maxima).map(([component, maximum]) =>
      lineChart({
        id: `${node}-${component}`,
        title: words(component),
        x: xOf(current, settings),
        xName: xNames[settings.x],
        lines: [{ name: component, values: current.values[`reward/${node}/${component}`] ?? [], look: node }],
        range: settings.isWhole
          ? [Math.min(0, ...(current.values[`reward/${node}/${component}`] ?? []).map((value) => value ?? 0)), maximum]
          : undefined,
        smoothing,
        isLog,
        width,
        height: 150,
      }),
    ),
  ]
}

const examples = ({ run, overview }: Data, { node, best, worst, recent }: NodeSummary): Child => {
  const where = recent === null ? '' : ` of steps ${recent[0]} to ${recent[1]}, one for each prompt`
  const list = (title: string, rows: typeof best) => [
    h('h3', {}, `${title}${where}`),
    rows.length === 0
      ? h('p', { class: 'note' }, 'none on record')
      : h(
          'div',
          { class: 'grid five' },
          rows.map((one) => rolloutCard(run, one, overview.maxima)),
        ),
  ]
  return [
    ...list('Five best completions', best),
    ...list('Five worst completions', worst),
    h('p', {}, h('a', { href: addressOf(run, 'rollouts', [], { node }) }, `All completions of ${node} →`)),
  ]
}

/** The newest one; null where there is none, or it cannot be read: its own page says why. */
const newestEvaluation = async (run: string, { evaluations }: Overview): Promise<EvaluationReply | null> => {
  const name = evaluations.at(-1)?.name
  if (name === undefined) return null
  const reply = await ask<EvaluationReply>([run, 'evaluations', name]).catch((error: unknown) => {
    if (error instanceof ProblemError) return null
    throw error
  })
  // Of a copy the folder may have another name, by which it is asked for.
  return reply === null ? null : { ...reply, summary: { ...reply.summary, name } }
}

/** The node that the reader chose, else the one that is furthest from the maximum. */
const chosenNode = (place: Place, { values }: Series): NodeId => {
  const asked = place.query.get('node')
  if (isNode(asked)) return asked
  const known = nodeIds.map((node) => ({ node, now: mean((values[`reward/${node}`] ?? []).slice(-tail)) ?? Infinity }))
  return known.toSorted((a, b) => a.now - b.now)[0]?.node ?? 'n1'
}

export const nodesPage: Page = {
  shows: ['metrics', 'rollouts', 'evaluations', 'labels'],
  draw: async (place) => {
    const run = place.run ?? ''
    const keys = ['num_tokens', ...nodeIds.flatMap((node) => [`reward/${node}`, `reward/${node}/*`])]
    const [overview, series, reply] = await Promise.all([
      ask<Overview>([run]),
      ask<SeriesReply>([run, 'series'], new URLSearchParams({ keys: keys.join(',') })),
      ask<NodeReply>([run, 'nodes']),
    ])
    const data: Data = { place, run, overview, series, reply, evaluation: await newestEvaluation(run, overview) }
    const chosen = chosenNode(place, series.current)
    const summary = reply.nodes.find(({ node }) => node === chosen)
    return h(
      'div',
      {},
      h('h1', {}, 'Nodes'),
      h(
        'p',
        { class: 'note' },
        `What each node earns of the ${number(overview.card.rewardMaximum)} that a completion can get, means of the last ${tail} steps. A group teaches nothing when all of its completions earned the same.`,
      ),
      h(
        'div',
        { class: 'node-rows' },
        reply.nodes.map((one) => row(data, one, chosen)),
      ),
      progressNote(reply.progress),
      summary === undefined
        ? null
        : section(
            'node',
            `${chosen} ${nodes[chosen].tag}`,
            chartControls(place),
            h('div', { class: 'grid' }, detailCharts(data, summary)),
            nodeDeltas(place, run, chosen, data.evaluation),
            examples(data, summary),
          ),
    )
  },
}
