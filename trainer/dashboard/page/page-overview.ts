import type { Alert, Overview, Series, SeriesReply } from '../view.ts'
import { ask } from './api.ts'
import { chartControls, xNames, xOf } from './axis.ts'
import { lineChart, type LineChart } from './chart.ts'
import { h, type Child } from './dom.ts'
import { ago, number, percent } from './format.ts'
import { latest, nodeStrip, tiles } from './headline.ts'
import { nodeIds, nodes } from './nodes.ts'
import { chartSettings, type Page } from './page.ts'
import { addressOf, type Place } from './router.ts'
import { stackedBar } from './stacked-bar.ts'
import { chartWidth, notice, section, stateBadge, table } from './ui.ts'

const stability = {
  kl: 'KL to the base',
  entropy: 'Entropy',
  grad_norm: 'Gradient norm',
  frac_reward_zero_std: 'Groups that teach nothing',
  'completions/clipped_ratio': 'Completions cut off',
  'completions/mean_length': 'Mean length, tokens',
  'clip_ratio/region_mean': 'Clipped tokens',
  'sampling/sampling_logp_difference/mean': 'Sampler against worker, log-prob',
} as const
const times = ['sample', 'score', 'update', 'publish', 'other'] as const

const keys = [
  'reward',
  'reward_std',
  'num_tokens',
  'step_time',
  ...nodeIds.map((node) => `reward/${node}`),
  ...Object.keys(stability),
  ...times.map((name) => `time/${name}`),
]

const alertList = (alerts: readonly Alert[]): Child =>
  alerts.length === 0
    ? h(
        'p',
        { class: 'note' },
        '✓ No rule has fired: signal in groups, truncation, KL, sampler mismatch, falls by node.',
      )
    : h(
        'ul',
        { class: 'alerts' },
        alerts.map(({ level, title, rule }) =>
          h('li', { class: level }, level === 'warning' ? '▲ ' : '· ', h('b', {}, title), `: ${rule}`),
        ),
      )

const simpleChart = (
  chart: Omit<LineChart, 'lines'> & { readonly name: string; readonly values: readonly (number | null)[] },
): HTMLElement => lineChart({ ...chart, lines: [{ name: chart.name, values: chart.values, look: 'total' }] })

/** Checkpoints, and starts of later attempts, where they stand on the axis. */
const ticksOf = ({ events, attempts }: Overview, x: readonly number[]): { x: number; label: string }[] => [
  ...events.flatMap(({ kind, step }) => {
    const at = step === null ? undefined : x[Math.min(step, x.length) - 1]
    return kind === 'checkpoint' && at !== undefined ? [{ x: at, label: `checkpoint at step ${step}` }] : []
  }),
  ...attempts.flatMap(({ attempt, fromStep }) => {
    const at = x[fromStep]
    return attempt > 1 && at !== undefined ? [{ x: at, label: `attempt ${attempt} from step ${fromStep}` }] : []
  }),
]

const charts = (place: Place, overview: Overview, { current, superseded }: SeriesReply): Child[] => {
  const settings = chartSettings(place)
  const x = xOf(current, settings)
  const common = { x, xName: xNames[settings.x], smoothing: settings.smoothing, isLog: settings.isLog }
  const range =
    settings.isWhole && overview.card.rewardMaximum !== null ? ([0, overview.card.rewardMaximum] as const) : undefined
  const [reward, std] = [current.values['reward'] ?? [], current.values['reward_std'] ?? []]
  const band = (sign: number) => reward.map((value, i) => (value === null ? null : value + sign * (std[i] ?? 0)))
  const top = overview.card.rewardMaximum ?? Infinity
  const evaluated = overview.evaluations.flatMap(({ step, all, name }) => {
    const at = x[Math.min(step, x.length) - 1]
    const y = all.trained.reward
    return at === undefined || y === null ? [] : [{ x: at, y, label: `${name}: ${number(y)} held out` }]
  })
  return [
    lineChart({
      ...common,
      id: 'reward',
      title: 'Reward',
      note: `Band: mean deviation within groups.${evaluated.length === 0 ? '' : ' ◆: held-out evaluation.'}${ticksOf(overview, x).length === 0 ? '' : ' ▾: checkpoints and starts.'}${superseded.length === 0 ? '' : ' Faint: steps of earlier attempts that were done again.'}`,
      lines: [{ name: 'reward', values: reward, look: 'total' }],
      bands: [
        { low: band(-1), high: band(1).map((value) => (value === null ? null : Math.min(top, value))), look: 'total' },
      ],
      faint: superseded.map((lost) => ({ x: xOf(lost, settings), values: lost.values['reward'] ?? [] })),
      points: evaluated,
      ticks: ticksOf(overview, x),
      range,
      width: chartWidth(2),
      height: 260,
    }),
    lineChart({
      ...common,
      id: 'reward-by-node',
      title: 'Reward by node',
      lines: nodeIds.map((node) => ({
        name: `${node} ${nodes[node].tag}`,
        label: `${node} ${nodes[node].short}`,
        values: current.values[`reward/${node}`] ?? [],
        look: node,
        marker: nodes[node].marker,
      })),
      range,
      // Five raw lines on top of each other would hide the smoothed ones.
      width: chartWidth(2),
      height: 260,
    }),
    ...Object.entries(stability)
      .filter(([key]) => (current.values[key] ?? []).some((value) => value !== null))
      .map(([key, title]) =>
        simpleChart({
          ...common,
          id: key.replaceAll('/', '-'),
          title,
          name: key,
          values: current.values[key] ?? [],
          width: chartWidth(3),
          height: 170,
        }),
      ),
  ]
}

const timing = (current: Series): Child => {
  const shares = times.map((name) => ({ name, seconds: latest(current, `time/${name}`) }))
  const whole = shares.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0)
  if (whole === 0) return h('p', { class: 'note' }, 'No times on record yet.')
  const parts = shares.map(({ name, seconds }) => ({ name, value: seconds ?? 0 }))
  return [
    stackedBar(parts, chartWidth(1)),
    table(
      'Where the time of a step goes, last 20 steps',
      ['part', 'seconds a step', 'share'],
      shares.map(({ name, seconds }) => ({
        cells: [name, number(seconds, 2), percent(seconds === null ? null : seconds / whole)],
      })),
    ),
  ]
}

const reproduce = ({ card, meta }: Overview): string =>
  `npx train --config runs/${card.id}/config.yaml --set run.seed=${meta?.seed ?? 0}`

const records = (overview: Overview): Child[] => [
  section(
    'attempts',
    'Attempts',
    table(
      'Starts of this run',
      ['attempt', 'started', 'from step', 'on', 'worker'],
      overview.attempts.map(({ attempt, at, fromStep, host, worker }) => ({
        cells: [
          attempt,
          at.slice(0, 19).replace('T', ' '),
          fromStep,
          host,
          `${worker['device'] ?? ''} ${worker['dtype'] ?? ''}`,
        ],
      })),
    ),
  ),
  section(
    'events',
    'Events',
    table(
      'What happened, the latest first',
      ['time', 'step', 'what', 'message'],
      overview.events
        .toReversed()
        .slice(0, 200)
        .map(({ at, step, kind, message }) => ({
          cells: [at.slice(0, 19).replace('T', ' '), step ?? '–', kind, message],
        })),
    ),
  ),
  section(
    'config',
    'Configuration',
    h('p', {}, 'Again, from the same config and seed:'),
    h('pre', {}, reproduce(overview)),
    h('details', {}, h('summary', {}, 'What it was made from'), h('pre', {}, JSON.stringify(overview.meta, null, 2))),
    h(
      'details',
      {},
      h('summary', {}, 'Resolved config, and where each value comes from'),
      h('pre', {}, JSON.stringify(overview.config, null, 2)),
    ),
  ),
]

export const overviewPage: Page = {
  shows: ['metrics', 'status', 'events', 'evaluations'],
  draw: async (place) => {
    const run = place.run ?? ''
    const [overview, series] = await Promise.all([
      ask<Overview>([run]),
      ask<SeriesReply>([run, 'series'], new URLSearchParams({ keys: keys.join(',') })),
    ])
    const { card } = overview
    const head = h(
      'div',
      { class: 'head' },
      h('h1', {}, run),
      stateBadge(card.state),
      h(
        'span',
        { class: 'note' },
        `step ${card.step} of ${card.steps}, attempt ${card.attempt}, ${card.updatedAt === '' ? '' : ago(card.updatedAt)}`,
      ),
      h('span', { class: 'note' }, card.model ?? ''),
    )
    if (card.state === 'unreadable') return h('div', {}, head, notice('This run cannot be read.', card.problem))
    return h(
      'div',
      {},
      head,
      card.problem === null ? null : notice('It says:', card.problem),
      tiles(overview, series.current),
      nodeStrip(run, series.current),
      section('alerts', 'Alerts', alertList(overview.alerts)),
      section('curves', 'Curves', chartControls(place), h('div', { class: 'grid' }, charts(place, overview, series))),
      section(
        'timing',
        'Who waits',
        h('p', { class: 'note' }, 'Scoring runs beside sampling: “score” is what it needed after that.'),
        timing(series.current),
      ),
      ...records(overview),
      h('p', {}, h('a', { href: addressOf(run, 'nodes') }, 'How each node does →')),
    )
  },
}
