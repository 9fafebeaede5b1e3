const leastSpread = 1e-12

/** Means and joint spread of pairs, in one pass without cancellation (Welford). */
export class Moments {
  n = 0
  x = 0
  y = 0
  xx = 0
  yy = 0
  xy = 0

  add(x: number, y: number): void {
    this.n++
    const [dx, dy] = [x - this.x, y - this.y]
    this.x += dx / this.n
    this.y += dy / this.n
    this.xx += dx * (x - this.x)
    this.yy += dy * (y - this.y)
    this.xy += dx * (y - this.y)
  }
}

/**
 * Pearson's correlation within groups, each about its own means, so that groups that merely lie apart are not taken for ones
 * that go together. Of one group it is the plain one. Null without spread.
 */
export const correlationWithin = (groups: readonly Moments[]): number | null => {
  const sum = (of: (one: Moments) => number): number => groups.reduce((total, one) => total + of(one), 0)
  const [n, xx, yy] = [sum((one) => one.n), sum((one) => one.xx), sum((one) => one.yy)]
  return n < 3 || xx < leastSpread || yy < leastSpread ? null : sum((one) => one.xy) / Math.sqrt(xx * yy)
}

export const correlation = (x: readonly number[], y: readonly number[]): number | null => {
  const moments = new Moments()
  for (const [i, value] of x.entries()) moments.add(value, y[i] ?? 0)
  return correlationWithin([moments])
}
