import type { AuditReply, Overview, SeriesReply } from '../view.ts'
import type { JudgeHint, JudgePeriod, JudgeReply, JudgeScope } from '../view-judge.ts'
import { ask, ProblemError } from './api.ts'
import { drawAudit, noAudit } from './audit.ts'
import { lineChart } from './chart.ts'
import { choice } from './choice.ts'
import { h, type Child } from './dom.ts'
import { number, percent, plural } from './format.ts'
import { heatMap } from './heat-map.ts'
import { judgeSaid } from './judge-said.ts'
import { isNode, nodeIds, nodes } from './nodes.ts'
import type { Page } from './page.ts'
import { rolloutCard } from './rollout-card.ts'
import type { Place } from './router.ts'
import { chartWidth, nodeName, progressNote, section, table } from './ui.ts'

const questions = {
  'judge/requests': 'requests',
  'judge/memory_hits': 'answered from memory',
  'judge/disk_hits': 'answered from disk',
  'judge/unscored': 'without an answer',
} as const
const looks = ['n1', 'n3', 'n2', 'n4'] as const

interface Data {
  readonly place: Place
  readonly run: string
  readonly reply: JudgeReply
  readonly overview: Overview
  readonly series: SeriesReply
}

const chosenScope = ({ place, reply }: Data): JudgeScope | undefined => {
  const asked = place.query.get('node')
  return reply.scopes.find(({ node }) => node === (isNode(asked) ? asked : null))
}

const chooseNode = (place: Place): HTMLElement => {
  const asked = place.query.get('node')
  const names = nodeIds.map((node) => [node, `${node} ${nodes[node].short}`] as const)
  const list = choice(place, 'node', 'node', [['', 'all'], ...names], isNode(asked) ? asked : '')
  return h('div', { class: 'controls' }, list)
}

/** What the judge was asked, as far as the run recorded it. */
const askedChart = ({ current }: SeriesReply): Child => {
  const asked = Object.entries(questions).filter(([key]) =>
    (current.values[key] ?? []).some((value) => value !== null && value > 0),
  )
  if (asked.length === 0) return null
  return lineChart({
    ...{ id: 'judge-questions', title: 'Questions to the judge, each step', smoothing: 0.6 },
    ...{ x: current.steps, xName: 'step', width: chartWidth(2), height: 260 },
    lines: asked.map(([key, text], i) => ({
      ...{ name: text, label: text, look: looks[i] ?? 'total', values: current.values[key] ?? [] },
    })),
  })
}

const charts = ({ reply, series }: Data, scope: JudgeScope): Child[] => {
  const name = scope.node === null ? 'all nodes' : `${scope.node} ${nodes[scope.node].tag}`
  const common = { x: reply.steps, xName: 'step', width: chartWidth(2), height: 260 }
  const correlations = { withRest: 'the other components', withLength: 'the length' } as const
  return [
    heatMap({
      ...{ id: 'judge-distribution', title: `Distribution of the scores, ${name}`, width: chartWidth(2) },
      ...{ steps: reply.steps, windows: scope.windows, first: reply.first },
    }),
    lineChart({
      ...common,
      ...{ id: 'judge-ceiling', title: 'Scores at the maximum', range: [0, 1], unit: (value) => percent(value) },
      lines: reply.scopes.flatMap(({ node, windows }) =>
        node === null
          ? []
          : [
              {
                ...{ name: `${node} ${nodes[node].tag}`, label: `${node} ${nodes[node].short}`, look: node },
                ...{ marker: nodes[node].marker, values: windows.map(({ atMaximum }) => atMaximum) },
              },
            ],
      ),
    }),
    lineChart({
      ...common,
      ...{ id: 'judge-correlation', title: `What the scores go with, ${name}`, range: [-1, 1] },
      note: 'Pearson correlation within nodes, each window of steps by itself.',
      lines: (['withRest', 'withLength'] as const).map((key, i) => ({
        ...{ name: correlations[key], label: key === 'withRest' ? 'others' : 'length', dashed: i === 1 },
        ...{ look: i === 0 ? 'n3' : 'n4', values: scope.windows.map((window) => window[key]) },
      })),
    }),
    askedChart(series),
  ]
}

const periodCells = ({ node, failed, recent, before }: JudgeScope): Child[] => {
  const name: Child = node === null ? h('b', {}, 'all') : nodeName(node)
  const change = (of: (period: JudgePeriod) => number, digits = 2): string =>
    recent === null ? '–' : `${before === null ? '' : `${number(of(before), digits)} → `}${number(of(recent), digits)}`
  if (recent === null) return [name, 0, ...Array.from({ length: 7 }, () => '–'), failed]
  return [
    name,
    recent.n,
    change(({ mean }) => mean),
    change(({ sd }) => sd),
    percent(recent.atMaximum),
    recent.distinct,
    change(({ entropy }) => entropy),
    number(recent.withRest),
    number(recent.withLength),
    failed,
  ]
}

const scores = ({ reply }: Data): HTMLElement =>
  table(
    'Scores of the recent steps',
    [
      'node',
      'scores',
      'mean',
      'deviation',
      'at the maximum',
      'different scores',
      'entropy, bits',
      'with the other components',
      'with the length',
      'failed',
    ],
    reply.scopes.map((scope) => ({ cells: periodCells(scope) })),
  )

const hintRow = ({ title, rule, fired, isOpen }: JudgeHint): { cells: readonly Child[] } => {
  const said: Child = fired.map(({ node, said: text }) => h('div', {}, '▲ ', h('b', {}, node), ` ${text}`))
  const quiet = isOpen ? 'too few steps to tell' : '✓ fires nowhere'
  return { cells: [title, rule, fired.length === 0 ? quiet : said] }
}

const heldOut = ({ evaluations }: Overview): string => {
  const last = evaluations.at(-1)
  if (last === undefined) return 'There is no evaluation on held-out prompts to hold them against yet.'
  const { base, trained } = last.all
  return `Held out (${last.name}), answers that are exactly right went from ${percent(base.exactlyRight, 1)} to ${percent(trained.exactlyRight, 1)}.`
}

const hints = ({ reply, overview }: Data): HTMLElement =>
  section(
    'hints',
    'Hints',
    h(
      'p',
      { class: 'note' },
      'Rules fire on healthy runs too: each is a reason to look, and no verdict. A judge is gamed where its score rises and what no reward decides does not. ',
      heldOut(overview),
    ),
    table('Rules', ['hint', 'rule', 'fires at'], reply.hints.map(hintRow)),
  )

const suspects = ({ run, reply, overview }: Data, { node }: JudgeScope): HTMLElement => {
  const shown = reply.suspects
    .filter(({ row }) => node === null || row.node === node)
    .toSorted((a, b) => b.judge - b.rest - (a.judge - a.rest))
    .slice(0, 5)
  return section(
    'suspects',
    'Liked by the judge, and by nothing else',
    h(
      'p',
      { class: 'note' },
      'Recent completions to which the judge gave at least 30 % more of its maximum than the other components did of theirs.',
    ),
    shown.length === 0
      ? h('p', { class: 'note' }, 'none on record')
      : h(
          'div',
          { class: 'grid five' },
          shown.map(({ judge, rest, row }) =>
            h(
              'div',
              {},
              h('p', {}, nodeName(row.node), ` judge ${number(judge)}, the rest ${percent(rest)}`),
              rolloutCard(run, row, overview.maxima),
            ),
          ),
        ),
  )
}

const statistics = (data: Data): Child => {
  const { reply, place } = data
  const scope = chosenScope(data)
  if (scope === undefined || (reply.scopes[0]?.windows ?? []).every(({ n }) => n === 0))
    return [
      h('p', {}, 'No completion on record has a score of the judge.'),
      progressNote(reply.progress),
      h('div', { class: 'grid' }, askedChart(data.series)),
    ]
  const [recent, before] = [reply.recent, reply.before]
  return [
    section('curves', 'Scores over the steps', chooseNode(place), h('div', { class: 'grid' }, charts(data, scope))),
    section(
      'scores',
      'Recent scores by node',
      h(
        'p',
        { class: 'note' },
        recent === null ? '' : `Completions of steps ${recent[0]} to ${recent[1]}`,
        before === null ? '.' : `; before the arrow those of steps ${before[0]} to ${before[1]}.`,
        ' Scores are of the completions that the judge was asked about. “With”: Pearson correlation within nodes; – where there is no spread.',
      ),
      scores(data),
      progressNote(reply.progress),
    ),
    hints(data),
    suspects(data, scope),
  ]
}

const readAudit = (run: string): Promise<AuditReply | null> =>
  ask<AuditReply>([run, 'audit']).catch((error: unknown) => {
    if (error instanceof ProblemError && error.status === 404) return null
    throw error
  })

export const judgePage: Page = {
  shows: ['audit', 'rollouts', 'evaluations', 'labels'],
  draw: async (place) => {
    const run = place.run ?? ''
    const [audit, reply, overview, series, said] = await Promise.all([
      readAudit(run),
      ask<JudgeReply>([run, 'judge']),
      ask<Overview>([run]),
      ask<SeriesReply>([run, 'series'], new URLSearchParams({ keys: Object.keys(questions).join(',') })),
      judgeSaid(place, run),
    ])
    const judge = overview.meta?.judge
    const found =
      audit === null ? '' : `: ${audit.verdict === 'pass' ? '✓ pass' : plural(audit.findings.length, 'finding')}`
    return h(
      'div',
      {},
      h('h1', {}, 'Judge'),
      h(
        'p',
        { class: 'note' },
        judge === undefined ? '' : `${judge}. `,
        'How it scored the completions of this run. ',
        h('a', { href: '#audit' }, `What its audit found${found}`),
      ),
      statistics({ place, run, reply, overview, series }),
      said,
      section('audit', 'Audit', audit === null ? noAudit(run) : drawAudit(audit)),
    )
  },
}
