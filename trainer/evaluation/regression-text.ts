import { alignColumns } from './columns.ts'
import type { RegressionTest, RegressionVerdict } from '../../data/records/regression.ts'

const fixed = (value: number): string => value.toFixed(3)
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
const chance = (q: number): string => (q < 0.001 ? '<0.001' : q.toFixed(3))
const interval = ({ interval: range }: RegressionTest): string =>
  range === null ? '-' : `${signed(range.low)} … ${signed(range.high)}`

const header = [
  '',
  'prompts',
  'base → trained',
  'change',
  '95 % interval',
  'up/same/down',
  'q',
  'margin',
  'detectable',
  '',
]

const row = (test: RegressionTest): string[] => [
  test.name,
  String(test.prompts),
  `${fixed(test.base)} → ${fixed(test.trained)}`,
  signed(test.delta),
  interval(test),
  `${test.wins}/${test.ties}/${test.losses}`,
  chance(test.q),
  fixed(test.margin),
  test.detectable === null ? '-' : fixed(test.detectable),
  test.regressed ? 'REGRESSED' : '',
]

/** The last line of the text: what the exit code says too. */
export const verdictLine = ({ verdict, regressions, tests, alpha }: RegressionVerdict): string =>
  verdict === 'pass'
    ? `PASS: no regression in ${tests.length} tests at alpha ${alpha}`
    : `REGRESSION: ${regressions.join('; ')}`

/** A verdict as text for people; the verdict is the last line. */
export const renderVerdict = (verdict: RegressionVerdict): string =>
  [
    `base:    ${verdict.base}`,
    `trained: ${verdict.trained}`,
    `judge ${verdict.judge}, reward profile ${verdict.rewardProfile}, R at most ${verdict.rewardMaximum.toFixed(2)}; fails on ${verdict.failOn.join(', ')}`,
    ...verdict.notTested.map((text) => `not tested: ${text}`),
    ...(verdict.tooFewPrompts.length === 0
      ? []
      : [`too few prompts to fail alone at this alpha: ${verdict.tooFewPrompts.join('; ')}`]),
    '',
    alignColumns([header, ...verdict.tests.map(row)]),
    '',
    'A test regresses when its fall is larger than the margin beyond doubt: q, adjusted over all tests, is at most alpha.',
    'detectable: the smallest fall, margin included, that is found four times in five when nothing else fell.',
    '',
    verdictLine(verdict),
  ].join('\n')
