import type { JudgePeriod, JudgeScope } from '../view-judge.ts'
import { correlationWithin, Moments } from './correlation.ts'

/** So near to 1 a score counts as at its maximum. */
const ceiling = 0.99
const tenths = 10
/** Scores are kept in single precision: 0.7 and 0.9 are a little less there. */
const singles = 1e-6

/** What of a completion the judge's statistics need. */
export interface JudgedRow {
  readonly step: number
  /** NaN: it has none. */
  readonly judge: number
  /** What the other components gave, as a share of all that they can give; NaN where that is not known. */
  readonly rest: number
  readonly tokens: number
  readonly isFailed: boolean
  /** One row stands for its group. */
  readonly isFirst: boolean
  readonly isDead: boolean
}

/** What is counted of the rows of one node in some steps. */
export class JudgeTally {
  failed = 0
  groups = 0
  dead = 0
  /** Sum and number of `rest` of all completions, whether the judge was asked about them or not. */
  rest = 0
  rests = 0
  /** How many scores lie in each tenth; the last one counts those at the maximum. */
  readonly counts = new Uint32Array(tenths + 1)
  readonly hundredths = new Uint32Array(101)
  readonly withRest = new Moments()
  readonly withLength = new Moments()
  /** Tokens and completions of each step; empty where they are not wanted. */
  readonly steps = new Map<number, { tokens: number; n: number }>()
  readonly #keepsSteps: boolean

  constructor(keepsSteps: boolean) {
    this.#keepsSteps = keepsSteps
  }

  add({ step, judge, rest, tokens, isFailed, isFirst, isDead }: JudgedRow): void {
    if (this.#keepsSteps) this.#addLength(step, tokens)
    if (isFailed) this.failed++
    if (!Number.isNaN(rest)) {
      this.rest += rest
      this.rests++
    }
    if (isFirst) {
      this.groups++
      if (isDead) this.dead++
    }
    if (!Number.isNaN(judge)) this.#addScore(judge, rest, tokens)
  }

  #addLength(step: number, tokens: number): void {
    const own = this.steps.get(step)
    if (own === undefined) this.steps.set(step, { tokens, n: 1 })
    else {
      own.tokens += tokens
      own.n++
    }
  }

  #addScore(judge: number, rest: number, tokens: number): void {
    const inside = Math.max(0, Math.min(1, judge))
    const tenth = inside >= ceiling ? tenths : Math.min(tenths - 1, Math.floor(tenths * inside + singles))
    this.counts[tenth] = (this.counts[tenth] ?? 0) + 1
    const hundredth = Math.round(100 * inside)
    this.hundredths[hundredth] = (this.hundredths[hundredth] ?? 0) + 1
    this.withLength.add(judge, tokens)
    if (!Number.isNaN(rest)) this.withRest.add(judge, rest)
  }
}

const brief = (value: number): number => Number(value.toFixed(4))
const briefOrNull = (value: number | null): number | null => (value === null ? null : brief(value))
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const added = (lists: readonly Uint32Array[]): number[] =>
  Array.from({ length: lists[0]?.length ?? 0 }, (_, i) => sum(lists.map((list) => list[i] ?? 0)))

const deviation = (squares: number, n: number): number => (n < 2 ? 0 : Math.sqrt(squares / (n - 1)))

/** Mean and deviation of all scores together; n is not 0. */
const scoresOf = (parts: readonly Moments[]): { n: number; mean: number; sd: number } => {
  const n = sum(parts.map((part) => part.n))
  const mean = sum(parts.map((part) => part.n * part.x)) / n
  const squares = sum(parts.map((part) => part.xx + part.n * (part.x - mean) ** 2))
  return { n, mean, sd: deviation(squares, n) }
}

const entropyOf = (counts: readonly number[]): number => {
  const shares = counts.filter((count) => count > 0).map((count) => count / sum(counts))
  return shares.length < 2 ? 0 : -sum(shares.map((share) => share * Math.log2(share)))
}

const lengthsOf = (tallies: readonly JudgeTally[]): { tokens: number; tokensSd: number } => {
  const steps = new Map<number, { tokens: number; n: number }>()
  for (const { steps: own } of tallies)
    for (const [step, { tokens, n }] of own) {
      const known = steps.get(step)
      steps.set(step, { tokens: tokens + (known?.tokens ?? 0), n: n + (known?.n ?? 0) })
    }
  const [all, means] = [[...steps.values()], new Moments()]
  for (const { tokens, n } of all) means.add(tokens / n, 0)
  return {
    tokens: brief(sum(all.map(({ tokens }) => tokens)) / sum(all.map(({ n }) => n))),
    tokensSd: brief(deviation(means.xx, means.n)),
  }
}

/** The judge in the steps of these tallies, one of each node; null where it scored nothing. */
export const periodOf = (tallies: readonly JudgeTally[]): JudgePeriod | null => {
  const withLength = tallies.map((one) => one.withLength)
  const withRest = tallies.map((one) => one.withRest).filter(({ n }) => n > 0)
  const { n, mean, sd } = scoresOf(withLength)
  if (n === 0) return null
  const hundredths = added(tallies.map((one) => one.hundredths))
  const rests = sum(tallies.map((one) => one.rests))
  return {
    n,
    mean: brief(mean),
    sd: brief(sd),
    atMaximum: brief((added(tallies.map(({ counts }) => counts))[tenths] ?? 0) / n),
    distinct: hundredths.filter((count) => count > 0).length,
    entropy: brief(entropyOf(hundredths)),
    withRest: briefOrNull(correlationWithin(withRest)),
    withLength: briefOrNull(correlationWithin(withLength)),
    rest: rests === 0 ? null : brief(sum(tallies.map(({ rest }) => rest)) / rests),
    ...lengthsOf(tallies),
    dead: brief(sum(tallies.map(({ dead }) => dead)) / Math.max(1, sum(tallies.map(({ groups }) => groups)))),
  }
}

/** Completions that got no reward because the judge failed. */
export const failedIn = (tallies: readonly JudgeTally[]): number => sum(tallies.map(({ failed }) => failed))

/** The judge in one window of steps. */
export const windowOf = (tallies: readonly JudgeTally[]): JudgeScope['windows'][number] => {
  const period = periodOf(tallies)
  const { n = 0, mean = null, sd = null, atMaximum = null, withRest = null, withLength = null } = period ?? {}
  return { n, mean, sd, atMaximum, withRest, withLength, counts: added(tallies.map(({ counts }) => counts)) }
}
