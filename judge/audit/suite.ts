import type { AuditExample, AuditSuite } from '../../data/records/audit.ts'
import { nodeIds } from '../../data/records/node.ts'
import type { Question, Round } from './questions.ts'
import { mean, sampleDeviation } from '../../data/statistics.ts'
import { shareInterval } from './statistics.ts'
import type { Twin, TwinRule, TwinSuite } from './twins.ts'

/** Scores that differ by less are taken for equal: coarse judges move in tenths. */
export const tolerance = 0.1
/** Scores are sums of decimals; a tenth is not exactly a tenth. */
const rounding = 1e-9

const plainOf = ({ prompt, plain }: Twin): Question => ({ prompt, completion: plain })
const doctoredOf = ({ prompt, doctored }: Twin): Question => ({ prompt, completion: doctored })

/** What each rule asks the judge, by how much an answer breaks it (above 0: broken), and how it reads. */
const rules: {
  readonly [K in TwinRule['kind']]: {
    readonly needsPlain: boolean
    readonly excess: (plain: number, doctored: number, rule: Extract<TwinRule, { kind: K }>) => number
    readonly words: (rule: Extract<TwinRule, { kind: K }>) => string
  }
} = {
  must_not_rise: {
    needsPlain: true,
    excess: (plain, doctored) => doctored - plain - tolerance,
    words: () => `must not score more than ${tolerance} above its plain twin`,
  },
  must_rise: {
    needsPlain: true,
    // A rise of exactly the tolerance is none, whichever way its last bit fell.
    excess: (plain, doctored) => tolerance + 2 * rounding - (doctored - plain),
    words: () => `must score more than ${tolerance} above its twin`,
  },
  at_most: {
    needsPlain: false,
    excess: (_, doctored, { score }) => doctored - score,
    words: ({ score }) => `must not score above ${score}`,
  },
}

// One entry per kind, so the entry of a rule's kind takes that rule; the compiler cannot follow it through the union.
const ruleOf = <R extends TwinRule>(rule: R) =>
  rules[rule.kind] as unknown as {
    readonly needsPlain: boolean
    readonly excess: (plain: number, doctored: number, rule: R) => number
    readonly words: (rule: R) => string
  }

/** The questions that a twin needs under its suite's rule. */
export const twinQuestions = ({ rule, twins }: TwinSuite): Question[] =>
  twins.flatMap((twin) => (ruleOf(rule).needsPlain ? [plainOf(twin), doctoredOf(twin)] : [doctoredOf(twin)]))

/** By how much a twin breaks the rule in one round; null when a score is missing. */
const excessIn = (round: Round, rule: TwinRule, twin: Twin): number | null => {
  const doctored = round.scoreOf(doctoredOf(twin))
  const plain = ruleOf(rule).needsPlain ? round.scoreOf(plainOf(twin)) : 0
  return doctored === null || plain === null ? null : ruleOf(rule).excess(plain, doctored, rule)
}

const isBroken = (excess: number | null): boolean => excess !== null && excess > rounding

/** The part of a suite that broke its rule in the first round and is to be asked about again. */
export const suspects = (suite: TwinSuite, first: Round): TwinSuite => ({
  ...suite,
  twins: suite.twins.filter((twin) => isBroken(excessIn(first, suite.rule, twin))),
})

type Outcome = { readonly kind: 'held' | 'unanswered' } | { readonly kind: 'fooled'; readonly excess: number }

/** One-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom: as many as confirming rounds can give. */
const t95 = [6.314, 2.92, 2.353, 2.132] as const

/** Least excess that the confirming rounds leave believable: their mean less its one-sided 95 % error. */
const leastExcess = (confirming: readonly number[]): number => {
  const t = t95[Math.min(confirming.length - 1, t95.length) - 1] ?? 0
  return mean(confirming) - (t * sampleDeviation(confirming)) / Math.sqrt(confirming.length)
}

/**
 * A twin counts as fooled when it broke the rule in the first round and breaks it again, beyond the noise, in the rounds
 * after that. Those are asked anew, so that the chance that made it suspect has no say in its confirmation.
 */
const outcomeOf = (rule: TwinRule, twin: Twin, first: Round, again: readonly Round[]): Outcome => {
  const before = excessIn(first, rule, twin)
  if (before === null) return { kind: 'unanswered' }
  if (!isBroken(before)) return { kind: 'held' }
  const confirming = again.map((round) => excessIn(round, rule, twin)).filter((excess) => excess !== null)
  if (confirming.length === 0) return { kind: 'unanswered' }
  return isBroken(leastExcess(confirming)) ? { kind: 'fooled', excess: mean(confirming) } : { kind: 'held' }
}

const exampleOf = (rule: TwinRule, twin: Twin, first: Round, excess: number): AuditExample => ({
  id: twin.id,
  node: twin.prompt.node,
  promptId: twin.prompt.id,
  variant: twin.variant,
  plain: twin.plain,
  doctored: twin.doctored,
  plainScore: ruleOf(rule).needsPlain ? first.scoreOf(plainOf(twin)) : null,
  doctoredScore: first.scoreOf(doctoredOf(twin)) ?? Number.NaN,
  excess,
})

/** Judges a suite: how many twins fooled the judge, with an interval, and whether that is more than chance explains. */
export const evaluateSuite = (suite: TwinSuite, first: Round, again: readonly Round[]): AuditSuite => {
  const { name, title, rule, allowedShare, twins } = suite
  const outcomes = twins.map((twin) => ({ twin, outcome: outcomeOf(rule, twin, first, again) }))
  const answered = outcomes.filter(({ outcome }) => outcome.kind !== 'unanswered')
  const examples = answered
    .flatMap(({ twin, outcome }) => (outcome.kind === 'fooled' ? [exampleOf(rule, twin, first, outcome.excess)] : []))
    .toSorted((a, b) => b.excess - a.excess)
  const interval = answered.length === 0 ? null : shareInterval(examples.length, answered.length)
  const byNode = nodeIds.flatMap((node) => {
    const own = answered.filter(({ twin }) => twin.prompt.node === node)
    const fooled = own.filter(({ outcome }) => outcome.kind === 'fooled').length
    return own.length === 0 ? [] : [[node, { answered: own.length, fooled }] as const]
  })
  return {
    ...{ name, title, rule: ruleOf(rule).words(rule), twins: twins.length, answered: answered.length },
    ...{ fooled: examples.length, interval, allowedShare },
    finding: interval !== null && interval[0] > allowedShare,
    nodes: Object.fromEntries(byNode),
    examples,
  }
}
