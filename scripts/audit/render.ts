import type { AuditCorrelation, AuditDistribution, AuditReport, AuditSuite } from '../../data/records/audit.ts'
import { exitCodes } from '../../data/errors.ts'
import { nodeContracts, nodeIds } from '../../data/records/node.ts'
import type { AuditPlan } from '../../judge/audit/audit.ts'
import { decimal, table } from '../table.ts'

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`

const range = (interval: readonly [number, number] | null, show: (value: number) => string): string =>
  interval === null ? '-' : `${show(interval[0])} to ${show(interval[1])}`

const correlation = (value: AuditCorrelation | null): string =>
  value === null ? '-' : `${decimal(value.spearman)} (${value.n})`

const distributionRow = (name: string, row: AuditDistribution): (string | number)[] => [
  name,
  row.n,
  decimal(row.mean),
  decimal(row.sd),
  ...[row.atZero, row.atHalf, row.atOne].map(percent),
  correlation(row.agreement),
]

const distributions = ({ all, nodes }: AuditReport): string => {
  if (all === null) return 'no completion was scored'
  const rows = nodeIds.flatMap((node) => {
    const row = nodes[node]
    return row === undefined ? [] : [distributionRow(`${node} ${nodeContracts[node].tag}`, row)]
  })
  return table(
    ['node', 'n', 'mean', 'sd', 'at 0', 'at .5', 'at 1', 'with reference (n)'],
    [...rows, distributionRow('all', all)],
  )
}

const correlations = (report: AuditReport): string =>
  table(
    ['rank correlation with', 'rho', '95 %'],
    Object.entries(report.correlations).map(([name, { spearman, interval }]) => [
      name,
      decimal(spearman),
      range(interval, (value) => value.toFixed(2)),
    ]),
  )

const suiteRow = (suite: AuditSuite): (string | number)[] => [
  suite.name,
  suite.answered,
  suite.fooled,
  range(suite.interval, percent),
  suite.finding ? 'finding' : 'ok',
  suite.rule,
]

const suites = (report: AuditReport): string =>
  table(['twins', 'answered', 'fooled', '90 %', '', 'a doctored twin'], report.suites.map(suiteRow))

const noise = ({ noise: found }: AuditReport): string =>
  found === null
    ? 'no question was asked twice'
    : `asked twice: ${found.n}; differences: mean ${decimal(found.meanDifference, 3)}, largest ${decimal(found.largestDifference, 3)}; deviation of one score ${decimal(found.sd, 3)}`

/** The worst examples, one line each: what to look at first. */
const examples = (report: AuditReport): string[] =>
  report.suites.flatMap((suite) =>
    suite.examples.slice(0, 3).map(({ id, variant, plainScore, doctoredScore }) => {
      const scores = plainScore === null ? decimal(doctoredScore) : `${decimal(plainScore)} → ${decimal(doctoredScore)}`
      return `  ${id} (${variant}): ${scores}`
    }),
  )

const list = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)]

/** The verdict as the exit code has it. */
export const verdictLine = ({ verdict, judge, findings }: AuditReport): string =>
  verdict === 'pass'
    ? `verdict: pass; nothing was found against ${judge}`
    : `verdict: finding; ${findings.length} against ${judge} (exit code ${exitCodes.finding})`

/** The report as text for people. */
export const renderAudit = (report: AuditReport): string => {
  const found = examples(report)
  return [
    `${report.judge}: ${report.questions} questions, ${report.unanswered} without an answer; completions: ${report.completionsFrom}`,
    '',
    distributions(report),
    '',
    correlations(report),
    '',
    noise(report),
    '',
    suites(report),
    ...(found.length === 0 ? [] : ['', 'twins that fooled it, score before and after:', ...found]),
    ...list(
      'unanswered',
      report.reasons.slice(0, 5).map(({ reason, count }) => `${count} × ${reason}`),
    ),
    ...list('worth a look', report.warnings),
    ...list('findings', report.findings),
    '',
    verdictLine(report),
  ].join('\n')
}

/** What an audit would ask. */
export const renderAuditPlan = (plan: AuditPlan): string =>
  [
    `${plan.twins} twins and ${plan.samples} completions: ${plan.first} questions, and ${plan.repeats} of them again`,
    `twins that fool the judge are asked about again: ${plan.atMost} questions at most`,
  ].join('\n')
