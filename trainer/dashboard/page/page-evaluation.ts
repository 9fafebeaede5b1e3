import type { PairedResult } from '../../../data/records/evaluation.ts'
import type { EvaluationHistory, EvaluationPrompt, EvaluationReply, Overview } from '../view.ts'
import { ask } from './api.ts'
import { csvOf } from './chart-frame.ts'
import { checkpoints } from './checkpoints.ts'
import { diffWords } from './diff.ts'
import { h, type Child } from './dom.ts'
import { downloadText } from './download.ts'
import { change, number, percent, words } from './format.ts'
import { nodeIds } from './nodes.ts'
import type { Page } from './page.ts'
import { deltaHistogram } from './delta-histogram.ts'
import { forest } from './forest.ts'
import { scatter } from './scatter.ts'
import { addressOf, withQuery, type Place } from './router.ts'
import { chartWidth, nodeName, notice, section, table } from './ui.ts'

const columns = ['prompts', 'base', 'trained', 'change', '95 % interval', 'up / same / down', 'p']

const cells = (one: PairedResult): Child[] => [
  one.prompts,
  number(one.base, 3),
  number(one.trained, 3),
  change(one.delta, 3),
  one.interval === null ? '–' : `${number(one.interval.low, 3)} to ${number(one.interval.high, 3)}`,
  `${one.wins} / ${one.ties} / ${one.losses}`,
  one.p < 0.001 ? '<0.001' : number(one.p, 3),
]

const nodeCell = ({ node }: PairedResult): Child => (node === null ? h('b', {}, 'all') : nodeName(node))
const whole = ({ targetClass }: PairedResult): boolean => targetClass === null

const rewardTable = (results: readonly PairedResult[]): HTMLElement =>
  table(
    'Reward, base against trained, by node',
    ['node', ...columns],
    results
      .filter((one) => one.measure === 'reward' && whole(one))
      .map((one) => ({ cells: [nodeCell(one), ...cells(one)] })),
  )

const componentTables = (results: readonly PairedResult[]): Child =>
  [null, ...nodeIds].map((node) => {
    const own = results.filter((one) => one.node === node && whole(one) && one.measure.startsWith('component/'))
    if (own.length === 0) return null
    return h(
      'details',
      { open: node === null },
      h('summary', {}, node === null ? 'all nodes' : nodeName(node)),
      table(
        `Components, ${node ?? 'all nodes'}`,
        ['component', ...columns, 'q'],
        own.map((one) => ({
          cells: [words(one.measure.slice(10)), ...cells(one), one.q === null ? '–' : number(one.q, 3)],
        })),
      ),
    )
  })

const otherTable = (results: readonly PairedResult[]): HTMLElement =>
  table(
    'Measures that no reward decides',
    ['node', 'class of target', 'measure', ...columns],
    results
      .filter(({ measure }) => measure !== 'reward' && measure !== 'judge' && !measure.startsWith('component/'))
      .map((one) => ({ cells: [nodeCell(one), one.targetClass ?? 'all', words(one.measure), ...cells(one)] })),
  )

const csv = (results: readonly PairedResult[]): string =>
  csvOf(
    [
      'node',
      'class',
      'measure',
      'prompts',
      'base',
      'trained',
      'change',
      'low',
      'high',
      'wins',
      'ties',
      'losses',
      'p',
      'q',
    ],
    results.map((one) => [
      one.node ?? 'all',
      one.targetClass,
      one.measure,
      one.prompts,
      one.base,
      one.trained,
      one.delta,
      one.interval?.low ?? null,
      one.interval?.high ?? null,
      one.wins,
      one.ties,
      one.losses,
      one.p,
      one.q,
    ]),
  )

const promptList = (place: Place, { statistics }: EvaluationReply): HTMLElement =>
  table(
    'Prompts, the worst change first',
    ['prompt', 'node', 'base', 'trained', 'change'],
    statistics.promptDeltas.map(({ promptId, node, base, trained, delta }) => ({
      look: delta < 0 ? 'worse' : '',
      cells: [
        h('a', { href: `${withQuery(place, { prompt: promptId })}#prompt` }, promptId),
        nodeName(node),
        number(base),
        number(trained),
        change(delta),
      ],
    })),
  )

const onePrompt = (id: string, { prompt, base, trained, texts }: EvaluationPrompt): HTMLElement =>
  section(
    'prompt',
    `Prompt ${id}`,
    h(
      'details',
      {},
      h('summary', {}, 'What was asked'),
      prompt === null
        ? h('p', { class: 'note' }, 'not in this copy of the run')
        : prompt.messages.map(({ role, content }) => [
            h('p', { class: 'mini' }, role),
            h('pre', { class: 'text' }, content),
          ]),
    ),
    h(
      'div',
      { class: 'samples' },
      texts.trained.map((text, i) => {
        const [before, after] = [base[i]?.score, trained[i]?.score]
        const total = (score: typeof before): string => (score?.kind === 'scored' ? number(score.total) : 'unscored')
        return h(
          'article',
          { class: 'card' },
          h(
            'div',
            { class: 'card-head' },
            h('b', {}, `sample ${i}`),
            h('span', {}, `R ${total(before)} → ${total(after)}`),
          ),
          h(
            'pre',
            { class: 'text', tabindex: 0 },
            diffWords(texts.base[i] ?? '', text).map(({ kind, text: piece }) => {
              if (kind === 'same') return piece
              return kind === 'added' ? h('ins', {}, piece) : h('del', {}, piece)
            }),
          ),
        )
      }),
    ),
  )

const summaryRows = ({ summary }: EvaluationReply): Child =>
  table(
    'Both models on the same prompts',
    ['model', 'prompts', 'samples', 'reward', 'exactly right', 'cut off', 'mean tokens', 'unscored'],
    (['base', 'trained'] as const).map((side) => {
      const own = summary.all[side]
      return {
        cells: [
          side,
          own.prompts,
          own.samples,
          number(own.reward, 3),
          percent(own.exactlyRight, 1),
          percent(own.truncated, 1),
          number(own.meanTokens, 1),
          own.unscored,
        ],
      }
    }),
  )

const figures = ({ statistics, summary }: EvaluationReply): HTMLElement => {
  const rewards = statistics.results.filter((one) => one.measure === 'reward' && whole(one))
  const deltas = statistics.promptDeltas.map(({ delta }) => delta)
  const width = chartWidth(2)
  return h(
    'div',
    { class: 'grid' },
    scatter(statistics.promptDeltas, summary.rewardMaximum, width),
    h('div', { class: 'column' }, forest(rewards, width), deltaHistogram(deltas, width)),
  )
}

const choice = (run: string, overview: Overview, name: string): Child =>
  h(
    'nav',
    { class: 'controls', 'aria-label': 'Evaluations' },
    overview.evaluations.map((one) =>
      h(
        'a',
        { href: addressOf(run, 'evaluation', [one.name]), 'aria-current': one.name === name ? 'true' : null },
        `${one.name} (step ${one.step})`,
      ),
    ),
  )

const banner = ({ verdict, headline }: EvaluationReply): Child => {
  const passed = verdict?.verdict === 'pass'
  const regressions = verdict?.regressions ?? []
  return [
    h('div', { class: `card verdict ${passed ? '' : 'finding'}` }, `${passed ? '✓' : '✕'} ${headline}`),
    regressions.length === 0 ? null : notice('Regressed:', regressions.join(', ')),
  ]
}

export const evaluationPage: Page = {
  shows: ['evaluations'],
  draw: async (place) => {
    const run = place.run ?? ''
    const overview = await ask<Overview>([run])
    const names = overview.evaluations.map(({ name }) => name)
    const name = place.rest[0] ?? ['final', 'heldout'].find((one) => names.includes(one)) ?? names.at(-1)
    if (name === undefined)
      return h(
        'div',
        { class: 'empty' },
        h('h1', {}, 'No evaluation yet'),
        h('p', {}, 'This compares the base model with the trained one on held-out prompts:'),
        h('pre', {}, `drift-grpo eval --run ${run}`),
      )
    const [reply, history] = await Promise.all([
      ask<EvaluationReply>([run, 'evaluations', name]),
      ask<EvaluationHistory>([run, 'evaluations', name, 'history']),
    ])
    const { statistics, facts, notes } = reply
    const id = place.query.get('prompt')
    const prompt = id === null ? null : await ask<EvaluationPrompt>([run, 'evaluations', name, 'prompts', id])
    return h(
      'div',
      {},
      h('h1', {}, `Evaluation ${name}: base against trained`),
      choice(run, overview, name),
      banner(reply),
      summaryRows(reply),
      section(
        'reward',
        'Reward by node',
        rewardTable(statistics.results),
        h(
          'button',
          {
            type: 'button',
            onclick: () => downloadText(`evaluation-${name}.csv`, csv(statistics.results), 'text/csv'),
          },
          'CSV of all measures',
        ),
      ),
      section('each', 'Each prompt', figures(reply), promptList(place, reply)),
      id === null || prompt === null ? null : onePrompt(id, prompt),
      checkpoints(history, id),
      section('components', 'Components', componentTables(statistics.results)),
      section('task', 'What no reward decides', otherTable(statistics.results)),
      section(
        'conditions',
        'Conditions',
        table(
          'Conditions of this evaluation',
          ['what', 'value'],
          facts.map(([what, value]) => ({ cells: [what, value] })),
        ),
        notes.map((note) => h('p', { class: 'note' }, note)),
      ),
    )
  },
}
