const at = (values: Float64Array, i: number): number => values[i] ?? Number.NaN

/**
 * Moves values about until the one at `rank` is the one that sorting would put there, with none that is larger before it
 * and none that is smaller behind it (C. A. R. Hoare's quickselect). Takes a small part of the time of sorting. No NaN.
 */
export const placeRank = (values: Float64Array, rank: number): void => {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = at(values, rank)
    let left = low
    let right = high
    while (left <= right) {
      while (at(values, left) < pivot) left += 1
      while (at(values, right) > pivot) right -= 1
      if (left > right) break
      const swapped = at(values, left)
      values[left] = at(values, right)
      values[right] = swapped
      left += 1
      right -= 1
    }
    if (right < rank) low = left
    if (left > rank) high = right
  }
}
