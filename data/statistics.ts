/** Arithmetic mean; NaN for an empty list. */
export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Arithmetic mean; null for an empty list. */
export const meanOrNull = (values: readonly number[]): number | null => (values.length === 0 ? null : mean(values))

/** Sample (n - 1) deviation in two passes: exact zero for equal values, no cancellation for nearly equal ones. */
export const sampleDeviation = (values: readonly number[]): number => {
  if (values.every((value) => value === values[0])) return 0
  const centre = mean(values)
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1))
}

/** Quantile of an ascending, non-empty list, linear between neighbours. */
export const quantile = (ascending: ArrayLike<number>, level: number): number => {
  const place = level * (ascending.length - 1)
  const below = ascending[Math.floor(place)] ?? Number.NaN
  const above = ascending[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
