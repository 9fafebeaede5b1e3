/** One line of a rubric: what it is worth, and how much of that was earned (0 to 1). */
export interface Criterion {
  readonly name: string
  readonly points: number
  readonly earned: number
}

export interface Grade {
  /** 0 to 1. */
  readonly score: number
  readonly reason: string
}

export const criterion = (name: string, points: number, earned: number | boolean): Criterion => ({
  name,
  points,
  earned: Number(earned),
})

/** Adds up a rubric whose points sum to 1; `cap` limits the sum where one fault spoils the rest. The reason lists what was missed. */
export const gradeOf = (
  criteria: readonly Criterion[],
  cap: { readonly limit: number; readonly why: string } | null = null,
): Grade => {
  // Rounded, so that an exactly right answer is 1 and not 0.9999999999999999.
  const sum = Math.round(criteria.reduce((total, { points, earned }) => total + points * earned, 0) * 1e6) / 1e6
  const missed = criteria.filter(({ earned }) => earned < 1).map(({ name }) => name)
  const reason = missed.length === 0 ? 'right and grounded' : `missed: ${missed.join(', ')}`
  return cap !== null && sum > cap.limit
    ? { score: cap.limit, reason: `${cap.why}; ${reason}` }
    : { score: Math.min(1, sum), reason }
}

/** Harmonic mean of precision and recall of two multisets: a repeated item costs precision. Two empty ones agree: 1. */
export const f1 = (answer: readonly string[], target: readonly string[]): number => {
  if (answer.length + target.length === 0) return 1
  const open = new Map<string, number>()
  for (const item of target) open.set(item, (open.get(item) ?? 0) + 1)
  let hits = 0
  for (const item of answer) {
    const left = open.get(item) ?? 0
    if (left > 0) hits += 1
    open.set(item, left - 1)
  }
  return (2 * hits) / (answer.length + target.length)
}
