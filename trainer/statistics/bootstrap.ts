import { mean } from '../../data/statistics.ts'
import { normalCdf, studentQuantile } from './quantiles.ts'
import { drawnIndices } from './resampling.ts'
import { placeRank } from './select.ts'

export interface BootstrapOptions {
  readonly seed: number
  /** Bootstrap samples; 10,000 make the ends of a 95 % interval steady to about a hundredth of its width. */
  readonly resamples?: number
  /** Coverage that is asked for. */
  readonly level?: number
}

export interface Interval {
  readonly low: number
  readonly high: number
}

export const defaultResamples = 10_000
export const defaultLevel = 0.95

/**
 * The tail to cut on either side so that the interval is as wide as Student's and not as the normal one with the
 * population's deviation: plain percentiles are too narrow for few values (T. Hesterberg, "What Teachers Should Know
 * About the Bootstrap", 2015, the expanded percentile interval).
 */
const tailFor = (count: number, level: number): number =>
  normalCdf(studentQuantile((1 - level) / 2, count - 1) * Math.sqrt(count / (count - 1)))

/** Quantile by linear interpolation between the two values nearest to it in order; moves the values about. */
const quantileOf = (values: Float64Array, p: number): number => {
  const at = p * (values.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, values.length - 1)
  placeRank(values, below)
  const left = values[below] ?? Number.NaN
  placeRank(values, above)
  return left + (at - below) * ((values[above] ?? Number.NaN) - left)
}

/**
 * Interval for the mean of paired differences by a bootstrap over the pairs. The values are sorted first, so their order
 * cannot matter; the same values and seed give the same digits. Null with fewer than two values: nothing is known of the
 * spread.
 */
export const bootstrapInterval = (differences: readonly number[], options: BootstrapOptions): Interval | null => {
  const { seed, resamples = defaultResamples, level = defaultLevel } = options
  const count = differences.length
  if (count < 2) return null
  const values = Float64Array.from(differences).toSorted()
  if (values[0] === values[count - 1]) return { low: mean(differences), high: mean(differences) }
  const { table, start } = drawnIndices(seed, count, resamples)
  const means = new Float64Array(resamples)
  for (let r = 0; r < resamples; r++) {
    const from = start(r)
    let sum = 0
    for (let i = from; i < from + count; i++) sum += values[table[i] ?? 0] ?? 0
    means[r] = sum / count
  }
  const tail = tailFor(count, level)
  return { low: quantileOf(means, tail), high: quantileOf(means, 1 - tail) }
}
