import { PipelineError } from '../../data/errors.ts'
import {
  regressionLevels,
  type RegressionLevel,
  type RegressionTest,
  type RegressionVerdict,
} from '../../data/records/regression.ts'
import { benjaminiHochberg } from '../statistics/benjamini-hochberg.ts'
import { smallestDetectable } from '../statistics/detectable.ts'
import { signFlipTest } from '../statistics/sign-flip.ts'
import type { EvaluationSide } from './load.ts'
import { findMismatches } from './mismatch.ts'
import { byPrompt, describePairs, difference, pairPrompts, type SamplesByPrompt } from './pairing.ts'
import { questionsOf, type Question } from './regression-tests.ts'

export interface RegressionOptions {
  readonly failOn?: readonly RegressionLevel[]
  /** Falls of at most this are not looked at, in units of each measure. Default: 2 % of each measure's maximum. */
  readonly minDelta?: number | undefined
  /** Chance that runs which do not differ fail: over all tests together. */
  readonly alpha?: number
  readonly seed?: number
  readonly resamples?: number | undefined
}

/** Components are left to those who ask for them: a reward may trade one against another. */
export const defaultFailOn: readonly RegressionLevel[] = ['total', 'node', 'accuracy']
/** Measured on the toy model: about 1 in 1,000 comparisons of a policy with itself fails (test/bench/false-alarms.ts). */
export const defaultAlpha = 0.01
const marginShare = 0.02

/** Enough for p-values of alpha over the number of tests to be steady, where not all sign patterns are counted. */
const gateFlips = 100_000

/** Fewer prompts with a value than this share of all, and a verdict would speak of the prompts that happened to be scored. */
const leastCoverage = 0.9

interface Settings {
  readonly minDelta: number | undefined
  readonly seed: number
  readonly resamples: number | undefined
}

type Sides = Readonly<Record<'base' | 'trained', SamplesByPrompt>>

const ofNode = (side: SamplesByPrompt, { node }: Question): SamplesByPrompt =>
  node === null ? side : new Map([...side].filter(([, samples]) => samples[0]?.node === node))

type Answer = Omit<RegressionTest, 'q' | 'regressed' | 'detectable'> & { readonly deltas: readonly number[] }

/** Null when no prompt has a value: no targets, or no judge. */
const ask = (question: Question, sides: Sides, settings: Settings): Answer | null => {
  const { name, level, node, measure, maximum } = question
  const { pairs, leftOut } = pairPrompts(ofNode(sides.base, question), ofNode(sides.trained, question), measure)
  if (pairs.length === 0) return null
  // Prompts without a target lack accuracy on purpose; a reward that is missing is a failure of somebody.
  if (level !== 'accuracy' && pairs.length < leastCoverage * (pairs.length + leftOut)) {
    throw new PipelineError(
      'usage',
      `${name}: only ${pairs.length} of ${pairs.length + leftOut} prompts have a score on both sides; a verdict needs ${100 * leastCoverage} %`,
      { remedy: 'Find out why completions are unscored (the samples say it), and evaluate again.' },
    )
  }
  const { minDelta, seed, resamples } = settings
  const margin = minDelta ?? marginShare * maximum
  const deltas = pairs.map(difference)
  const options = { seed, ...(resamples === undefined ? {} : { resamples }) }
  return {
    ...{ name, level, node, measure, margin, deltas },
    ...describePairs(pairs, options),
    p: signFlipTest(
      deltas.map((delta) => delta + margin),
      { seed, resamples: resamples ?? gateFlips, alternative: 'less' },
    ),
  }
}

const requireComparable = (base: EvaluationSide, trained: EvaluationSide): void => {
  const mismatches = findMismatches(base, trained)
  if (mismatches.length === 0) return
  const list = mismatches.map(({ condition, detail }) => `${condition} (${detail})`).join('; ')
  throw new PipelineError('usage', `these evaluations cannot be compared, they differ in: ${list}`, {
    remedy: 'Evaluate both under the same conditions: drift-grpo eval with the same prompts, samples and config.',
  })
}

const requireSound = (failOn: readonly RegressionLevel[], alpha: number, minDelta: number | undefined): void => {
  if (failOn.length === 0) throw new PipelineError('usage', 'a gate that fails on nothing tests nothing')
  if (!(alpha > 0 && alpha < 1)) throw new PipelineError('usage', `alpha must lie between 0 and 1, not ${alpha}`)
  if (minDelta !== undefined && !(minDelta >= 0)) {
    throw new PipelineError('usage', `the smallest fall that counts must not be negative: ${minDelta}`, {
      remedy: 'Give its size, as in --min-delta 0.05.',
    })
  }
}

/** What a test must reach that is the only one to see a fall: the adjustment then multiplies by the number of tests. */
const alphaAlone = (alpha: number, tests: number): number => alpha / tests

const settle = (answers: readonly Answer[], alpha: number): RegressionTest[] => {
  const adjusted = benjaminiHochberg(answers.map(({ p }) => p))
  const options = { alpha: alphaAlone(alpha, answers.length), sides: 1 } as const
  return answers.map(({ deltas, ...answer }, i) => {
    const q = adjusted[i] ?? 1
    const reach = smallestDetectable(deltas, options)
    return { ...answer, q, regressed: q <= alpha, detectable: reach === null ? null : answer.margin + reach }
  })
}

/** The least p-value of n prompts is 1 in 2^n. */
const cannotFailAlone = (tests: readonly RegressionTest[], alpha: number): string[] =>
  tests.filter(({ prompts }) => 2 ** -prompts > alphaAlone(alpha, tests.length)).map(({ name }) => name)

/** A level of which nothing could be tested must not pass because of that, when somebody asked for it by name. */
const explainGaps = (failOn: readonly RegressionLevel[], answers: readonly Answer[], explicit: boolean): string[] => {
  const empty = failOn.filter((level) => answers.every((answer) => answer.level !== level))
  if (empty.length > 0 && (explicit || answers.length === 0)) {
    throw new PipelineError(
      'usage',
      `nothing to test for: ${empty.join(', ')}; no prompt has such a value on both sides`,
      {
        remedy: 'Accuracy needs prompts with targets; rewards need scored completions.',
      },
    )
  }
  return empty.map((level) => `${level}: no prompt has such a value on both sides`)
}

/**
 * The verdict of the gate, and the only place where one is made: did anything fall by more than its margin, from `base` to
 * `trained`? One-sided sign-flip tests over prompts, adjusted together; regressed is what remains at `alpha`. Pure, and equal
 * to the digit when repeated. Throws a usage error for evaluations that cannot be compared, naming every difference.
 */
export const regressionVerdict = (
  base: EvaluationSide,
  trained: EvaluationSide,
  { failOn = defaultFailOn, minDelta, alpha = defaultAlpha, seed = 0, resamples }: RegressionOptions = {},
): RegressionVerdict => {
  requireSound(failOn, alpha, minDelta)
  requireComparable(base, trained)
  const levels = regressionLevels.filter((level) => failOn.includes(level))
  const sides = { base: byPrompt(base.samples), trained: byPrompt(trained.samples) }
  const settings = { minDelta, seed, resamples }
  const answers = questionsOf(base, levels).flatMap((question) => ask(question, sides, settings) ?? [])
  const notTested = explainGaps(levels, answers, failOn !== defaultFailOn)
  const tests = settle(answers, alpha)
  const regressions = tests.filter(({ regressed }) => regressed).map(({ name }) => name)
  const { judge, rewards, rewardMaximum } = trained.summary
  return {
    schema: 'drift-grpo/regression/1',
    verdict: regressions.length === 0 ? 'pass' : 'regression',
    base: base.label,
    trained: trained.label,
    failOn: levels,
    ...{ alpha, seed, judge, rewardProfile: rewards.profile, rewardMaximum, regressions, tests, notTested },
    tooFewPrompts: cannotFailAlone(tests, alpha),
  }
}
