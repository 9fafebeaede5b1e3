import { drawnBits } from './resampling.ts'

export type Alternative = 'less' | 'two-sided'

export interface SignFlipOptions {
  readonly seed: number
  /** Random sign patterns, where there are too many to count all of them. */
  readonly resamples?: number
  readonly alternative: Alternative
}

export const defaultFlips = 10_000

/** Up to this many differences that are not zero all 2^k patterns are counted, and the p-value is exact. */
const exactUpTo = 26

/** Sums of the same parts in another order differ in their last bits: that must not decide whether a pattern is as extreme. */
const rounding = (values: Float64Array): number => 1e-12 * values.reduce((sum, value) => sum + Math.abs(value), 0)

/** The sums of all sign patterns of some values; bit i of a sum's place says that value i is flipped. */
const patternSums = (values: Float64Array): Float64Array => {
  const sums = new Float64Array(2 ** values.length)
  sums[0] = values.reduce((sum, value) => sum + value, 0)
  values.forEach((value, i) => {
    const half = 2 ** i
    for (let pattern = 0; pattern < half; pattern++) sums[half + pattern] = (sums[pattern] ?? 0) - 2 * value
  })
  return sums
}

/** Patterns whose sum is at most `limit`: the values are halved, and the sorted sums of both halves are matched. */
const countAtMost = (values: Float64Array, limit: number): number => {
  const middle = values.length >> 1
  const left = patternSums(values.subarray(0, middle)).toSorted()
  const right = patternSums(values.subarray(middle)).toSorted()
  let count = 0
  let fitting = right.length
  for (const sum of left) {
    while (fitting > 0 && sum + (right[fitting - 1] ?? 0) > limit) fitting -= 1
    count += fitting
  }
  return count
}

/** Share of all sign patterns. Their sums are symmetric about 0, so both tails are as long as one. */
const exact = (values: Float64Array, observed: number, slack: number, alternative: Alternative): number => {
  const patterns = 2 ** values.length
  if (alternative === 'less') return countAtMost(values, observed + slack) / patterns
  const limit = slack - Math.abs(observed)
  return limit >= 0 ? 1 : (2 * countAtMost(values, limit)) / patterns
}

/** Values that one look-up covers. */
const chunk = 8
const none = new Float64Array(1)

const sampled = (
  values: Float64Array,
  observed: number,
  slack: number,
  { seed, resamples = defaultFlips, alternative }: SignFlipOptions,
): number => {
  const words = Math.ceil(values.length / 32)
  const bits = drawnBits(seed, words, resamples)
  const chunks = Array.from({ length: Math.ceil(values.length / chunk) }, (_, i) =>
    patternSums(values.subarray(i * chunk, (i + 1) * chunk)),
  )
  const limit = Math.abs(observed) - slack
  let extreme = 0
  for (let r = 0; r < resamples; r++) {
    let sum = 0
    for (let i = 0; i < chunks.length; i++) {
      const sums = chunks[i] ?? none
      const word = bits[r * words + (i >>> 2)] ?? 0
      sum += sums[(word >>> (chunk * (i & 3))) & (sums.length - 1)] ?? 0
    }
    if (alternative === 'less' ? sum <= observed + slack : Math.abs(sum) >= limit) extreme += 1
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
  const values = Float64Array.from(differences.filter((value) => value !== 0)).toSorted()
  if (values.length === 0) return 1
  const observed = values.reduce((sum, value) => sum + value, 0)
  const slack = rounding(values)
  return values.length <= exactUpTo
    ? exact(values, observed, slack, options.alternative)
    : sampled(values, observed, slack, options)
}
