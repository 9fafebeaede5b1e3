/**
 * Adjusts p-values of a family of tests: rejecting those at or below q keeps the expected share of false rejections at or
 * below q (Benjamini and Hochberg 1995); where all hypotheses are true that is the chance of any rejection. Results stand
 * in the order of the input; each is at least its p-value.
 */
export const benjaminiHochberg = (pValues: readonly number[]): number[] => {
  const count = pValues.length
  const byValue = pValues.map((p, index) => ({ p, index })).toSorted((a, b) => b.p - a.p)
  const adjusted = Array.from<number>({ length: count })
  let smallest = 1
  byValue.forEach(({ p, index }, position) => {
    // The factor is at least 1: multiplied in this order the result is never below p, not even by rounding.
    smallest = Math.min(smallest, p * (count / (count - position)))
    adjusted[index] = smallest
  })
  return adjusted
}
