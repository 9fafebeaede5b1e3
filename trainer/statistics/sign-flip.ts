import { Rng } from '../../data/world/random.ts'

export type Alternative = 'less' | 'two-sided'

export interface SignFlipOptions {
  readonly seed: number
  /** Random sign patterns, where there are too many to go through all of them. */
  readonly resamples?: number
  readonly alternative: Alternative
}

export const defaultFlips = 10_000

/** Up to this many differences that are not zero all 2^k patterns are visited, and the p-value is exact. */
const exactUpTo = 13

/** Sums of the same parts in another order differ in their last bits: that must not decide whether a pattern is as extreme. */
const rounding = (values: readonly number[]): number => 1e-12 * values.reduce((sum, value) => sum + Math.abs(value), 0)

const isExtreme = (sum: number, observed: number, slack: number, alternative: Alternative): boolean =>
  alternative === 'less' ? sum <= observed + slack : Math.abs(sum) >= Math.abs(observed) - slack

const exact = (values: readonly number[], observed: number, slack: number, alternative: Alternative): number => {
  const patterns = 2 ** values.length
  let extreme = 0
  for (let pattern = 0; pattern < patterns; pattern++) {
    let sum = 0
    for (let i = 0; i < values.length; i++) sum += ((pattern >>> i) & 1) === 1 ? -(values[i] ?? 0) : (values[i] ?? 0)
    if (isExtreme(sum, observed, slack, alternative)) extreme += 1
  }
  return extreme / patterns
}

const sampled = (
  values: readonly number[],
  observed: number,
  slack: number,
  { seed, resamples = defaultFlips, alternative }: SignFlipOptions,
): number => {
  const random = Rng.of(seed)
  let extreme = 0
  for (let r = 0; r < resamples; r++) {
    let sum = 0
    let bits = 0
    for (let i = 0; i < values.length; i++) {
      if (i % 32 === 0) bits = Math.floor(random.next() * 2 ** 32) | 0
      const value = values[i] ?? 0
      sum += (bits & 1) === 1 ? -value : value
      bits >>>= 1
    }
    if (isExtreme(sum, observed, slack, alternative)) extreme += 1
  }
  // The pattern that was observed is one of those that could have been.
  return (extreme + 1) / (resamples + 1)
}

/**
 * p-value of the hypothesis that paired differences are symmetric about 0, by flipping their signs: exact, whatever their
 * distribution, when the two sides of a pair could have been swapped. `less` asks whether their mean is below 0. Ties (0)
 * carry nothing. 1 without any difference.
 */
export const signFlipTest = (differences: readonly number[], options: SignFlipOptions): number => {
  const values = differences.filter((value) => value !== 0).toSorted((a, b) => a - b)
  if (values.length === 0) return 1
  const observed = values.reduce((sum, value) => sum + value, 0)
  const slack = rounding(values)
  return values.length <= exactUpTo
    ? exact(values, observed, slack, options.alternative)
    : sampled(values, observed, slack, options)
}
