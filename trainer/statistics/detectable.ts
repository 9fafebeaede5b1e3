import { sampleDeviation } from '../../data/statistics.ts'
import { studentQuantile } from './quantiles.ts'

export interface PowerOptions {
  /** Chance of a false alarm of the test that is planned for. */
  readonly alpha?: number
  readonly sides?: 1 | 2
  /** Chance of seeing an effect that is there. */
  readonly power?: number
}

/**
 * The smallest true mean difference that a paired t test on as many pairs with this spread would find with the given
 * power: (t_alpha + t_power) · s / √n. Null with fewer than two pairs.
 */
export const smallestDetectable = (
  differences: readonly number[],
  { alpha = 0.05, sides = 2, power = 0.8 }: PowerOptions = {},
): number | null => {
  const count = differences.length
  if (count < 2) return null
  const freedom = count - 1
  const reach = studentQuantile(1 - alpha / sides, freedom) + studentQuantile(power, freedom)
  return (reach * sampleDeviation(differences)) / Math.sqrt(count)
}
