/**
 * Exponential moving average without the pull towards zero at its start. Causal: a new step changes no earlier point. A
 * constant stays one, one or two points stay as they are, and a gap stays a gap and does not count.
 */
export const smooth = (values: readonly (number | null)[], weight: number): (number | null)[] => {
  const known = values.filter((value) => value !== null).length
  if (weight <= 0 || known <= 2) return [...values]
  let [sum, norm] = [0, 0]
  return values.map((value) => {
    if (value === null) return null
    sum = weight * sum + (1 - weight) * value
    norm = weight * norm + (1 - weight)
    return sum / norm
  })
}

/** Indices of the least and the largest value from `from` up to `to`; both `from` where there is none. */
const extremes = (values: readonly (number | null)[], from: number, to: number): [number, number] => {
  let [low, high] = [from, from]
  for (let i = from; i < to; i++) {
    const value = values[i] ?? null
    if (value === null) continue
    if (value < (values[low] ?? Infinity)) low = i
    if (value > (values[high] ?? -Infinity)) high = i
  }
  return low < high ? [low, high] : [high, low]
}

/**
 * At most two points a bucket, the least and the largest in their order: the same data always give the same picture, and no
 * spike is lost. Gives the indices that stay.
 */
export const thinned = (values: readonly (number | null)[], buckets: number): number[] => {
  if (values.length <= 2 * buckets) return values.map((_, i) => i)
  const size = values.length / buckets
  const kept = Array.from({ length: buckets }, (_, bucket) =>
    extremes(values, Math.floor(bucket * size), Math.floor((bucket + 1) * size)),
  )
  return [...new Set(kept.flat())]
}
