import type { AuditCorrelation, AuditDistribution, AuditNoise } from '../../data/records/audit.ts'
import { mean, quantile, sampleDeviation } from '../../data/statistics.ts'
import { spearman, spearmanInterval } from './statistics.ts'

/** A completion that was scored, with the second opinion where there is one. */
export interface ScoredSample {
  readonly score: number
  /** Score of the judge that grades from targets; null without a target. */
  readonly reference: number | null
  /** Its length and structural scores, by name. */
  readonly features: Readonly<Record<string, number>>
}

/** Rank correlation of pairs, with its interval. */
export const correlate = (pairs: readonly (readonly [number, number])[]): AuditCorrelation => {
  const r = spearman(
    pairs.map(([x]) => x),
    pairs.map(([, y]) => y),
  )
  return { n: pairs.length, spearman: r, interval: spearmanInterval(r, pairs.length) }
}

/** Describes the scores of completions; null when there are none. `compared`: whether a second opinion makes sense. */
export const describeScores = (samples: readonly ScoredSample[], compared: boolean): AuditDistribution | null => {
  if (samples.length === 0) return null
  const scores = samples.map(({ score }) => score)
  const ascending = scores.toSorted((a, b) => a - b)
  const shareAt = (value: number): number => scores.filter((score) => score === value).length / scores.length
  const pairs = samples.flatMap(({ score, reference }) => (reference === null ? [] : [[score, reference] as const]))
  const at = (share: number): number => quantile(ascending, share)
  return {
    n: scores.length,
    mean: mean(scores),
    sd: sampleDeviation(scores),
    atZero: shareAt(0),
    atHalf: shareAt(0.5),
    atOne: shareAt(1),
    quantiles: [at(0), at(0.25), at(0.5), at(0.75), at(1)],
    agreement: compared ? correlate(pairs) : null,
  }
}

/** Correlation of the scores with every feature that the samples have. */
export const correlateFeatures = (samples: readonly ScoredSample[]): Record<string, AuditCorrelation> => {
  const names = [...new Set(samples.flatMap(({ features }) => Object.keys(features)))]
  return Object.fromEntries(
    names.map((name) => {
      const pairs = samples.flatMap(({ score, features }) =>
        features[name] === undefined ? [] : [[score, features[name]] as const],
      )
      return [name, correlate(pairs)]
    }),
  )
}

/** How much the answers to equal questions differ; null when none was asked twice. */
export const describeNoise = (pairs: readonly (readonly [number, number])[]): AuditNoise | null => {
  if (pairs.length === 0) return null
  const differences = pairs.map(([first, second]) => second - first)
  const sizes = differences.map(Math.abs)
  // The mean difference of two equal questions is 0 by construction: the root of the mean square, not of the spread.
  const square = mean(differences.map((difference) => difference ** 2))
  return {
    n: pairs.length,
    meanDifference: mean(sizes),
    largestDifference: Math.max(...sizes),
    sd: Math.sqrt(square / 2),
  }
}
