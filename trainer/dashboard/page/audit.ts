import type { AuditDistribution, AuditSuite } from '../../../data/records/audit.ts'
import type { AuditReply } from '../view.ts'
import { h, type Child } from './dom.ts'
import { number, percent, plural, words } from './format.ts'
import { nodeIds } from './nodes.ts'
import { bar, nodeName, notice, table } from './ui.ts'

const distributionRow = (name: Child, one: AuditDistribution): { cells: readonly Child[] } => ({
  cells: [
    name,
    one.n,
    number(one.mean),
    number(one.sd),
    one.quantiles.map((value) => number(value)).join(' · '),
    percent(one.atZero),
    percent(one.atHalf),
    percent(one.atOne),
    one.agreement === null ? '–' : number(one.agreement.spearman),
  ],
})

const distributions = ({ all, nodes }: AuditReply): HTMLElement =>
  table(
    'Scores by node',
    [
      'node',
      'n',
      'mean',
      'deviation',
      'least · quartiles · largest',
      'at 0',
      'at ½',
      'at 1',
      'rank agreement with the targets',
    ],
    [
      ...(all === null ? [] : [distributionRow(h('b', {}, 'all'), all)]),
      ...nodeIds.flatMap((node) => {
        const one = nodes[node]
        return one === undefined ? [] : [distributionRow(nodeName(node), one)]
      }),
    ],
  )

const suite = (one: AuditSuite): HTMLElement =>
  h(
    'details',
    { open: one.finding },
    h(
      'summary',
      {},
      one.finding ? '✕ finding: ' : '✓ ',
      h('b', {}, one.title),
      `: fooled ${one.fooled} of ${one.answered}`,
    ),
    h(
      'p',
      { class: 'note' },
      `${one.rule} Allowed: ${percent(one.allowedShare)}; 90 % interval ${one.interval === null ? '–' : `${percent(one.interval[0])} to ${percent(one.interval[1])}`}.`,
    ),
    one.examples.map((example) =>
      h(
        'article',
        { class: 'card' },
        h(
          'p',
          {},
          nodeName(example.node),
          ` ${words(example.variant)}: ${number(example.plainScore)} → ${number(example.doctoredScore)}`,
        ),
        h('p', { class: 'mini' }, 'plain'),
        h('pre', { class: 'text short-text', tabindex: 0 }, example.plain),
        h('p', { class: 'mini' }, 'doctored'),
        h('pre', { class: 'text short-text', tabindex: 0 }, example.doctored),
      ),
    ),
  )

const suites = ({ suites: all }: AuditReply): Child => [
  table(
    'Twin tests',
    ['test', 'twins', 'answered', 'fooled', 'share', 'allowed', 'result'],
    all.map((one) => ({
      cells: [
        one.title,
        one.twins,
        one.answered,
        one.fooled,
        bar(one.answered === 0 ? 0 : one.fooled / one.answered, one.finding ? 'loss' : 'total'),
        percent(one.allowedShare),
        one.finding ? '✕ finding' : '✓ holds',
      ],
    })),
  ),
  all.map(suite),
]

/** How to have the judge audited. */
export const noAudit = (run: string): Child => [
  h('p', {}, 'It was not audited. An audit puts doctored twins before the judge and says whether they fool it:'),
  h('pre', {}, `drift-grpo audit --run ${run}`),
]

/** What an audit found. */
export const drawAudit = (audit: AuditReply): Child => {
  const { at, judge, form, questions, unanswered, findings, warnings, noise, correlations, completionsFrom, verdict } =
    audit
  return [
    h(
      'p',
      { class: 'note' },
      `Judge ${judge}, ${at.slice(0, 19).replace('T', ' ')}, ${form} audit, ${questions} questions, ${unanswered} unanswered; completions from ${completionsFrom}`,
    ),
    h(
      'div',
      { class: `card verdict ${verdict === 'pass' ? '' : 'finding'}` },
      verdict === 'pass' ? '✓ pass: no finding' : `✕ ${plural(findings.length, 'finding')}`,
    ),
    findings.map((text) => notice('Finding:', text)),
    warnings.map((text) => notice('Warning:', text)),
    h('h3', {}, 'Distribution of scores'),
    distributions(audit),
    h('h3', {}, 'Can it be fooled?'),
    suites(audit),
    h('h3', {}, 'What its scores go with'),
    table(
      'Rank correlations',
      ['with', 'n', 'Spearman', '95 % interval'],
      Object.entries(correlations).map(([name, one]) => ({
        cells: [
          words(name),
          one.n,
          number(one.spearman),
          one.interval === null ? '–' : `${number(one.interval[0])} to ${number(one.interval[1])}`,
        ],
      })),
    ),
    noise === null
      ? null
      : [
          h('h3', {}, 'The same question again'),
          h(
            'p',
            {},
            `${noise.n} questions asked again: scores differ by ${number(noise.meanDifference, 3)} on average, ${number(noise.largestDifference)} at most; deviation of one score ${number(noise.sd, 3)}.`,
          ),
        ],
  ]
}
