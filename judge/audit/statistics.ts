import { mean } from '../../data/statistics.ts'

/** Ranks from 1; equal values share the mean of their ranks. */
export const ranks = (values: readonly number[]): number[] => {
  const order = values.map((value, index) => ({ value, index })).toSorted((a, b) => a.value - b.value)
  const result = Array.from<number>({ length: values.length })
  for (let start = 0; start < order.length;) {
    let end = start
    while (end + 1 < order.length && order[end + 1]?.value === order[start]?.value) end += 1
    for (const { index } of order.slice(start, end + 1)) result[index] = (start + end) / 2 + 1
    start = end + 1
  }
  return result
}

/** Spearman's rank correlation, ties averaged. Null for fewer than three pairs, or where one side has no spread. */
export const spearman = (x: readonly number[], y: readonly number[]): number | null => {
  if (x.length < 3 || x.length !== y.length) return null
  const [a, b] = [ranks(x), ranks(y)]
  const [centreA, centreB] = [mean(a), mean(b)]
  let [both, ownA, ownB] = [0, 0, 0]
  for (const [i, rank] of a.entries()) {
    const [fromA, fromB] = [rank - centreA, (b[i] ?? 0) - centreB]
    both += fromA * fromB
    ownA += fromA ** 2
    ownB += fromB ** 2
  }
  return ownA === 0 || ownB === 0 ? null : Math.max(-1, Math.min(1, both / Math.sqrt(ownA * ownB)))
}

/** Two-sided 95 % quantile of the normal distribution. */
const z95 = 1.959964

/**
 * 95 % interval of a rank correlation: Fisher's transformation with the variance of Bonett and Wright (2000),
 * (1 + r²/2)/(n − 3). Null with fewer than ten pairs, for which it is not good.
 */
export const spearmanInterval = (r: number | null, n: number): [number, number] | null => {
  if (r === null || n < 10) return null
  if (Math.abs(r) === 1) return [r, r]
  const reach = z95 * Math.sqrt((1 + r ** 2 / 2) / (n - 3))
  return [Math.tanh(Math.atanh(r) - reach), Math.tanh(Math.atanh(r) + reach)]
}

/** P(X ≤ k) for X binomial with n draws of probability p, summed in logarithms. */
export const binomialAtMost = (k: number, n: number, p: number): number => {
  if (k >= n || p <= 0) return 1
  if (p >= 1) return 0
  let logTerm = n * Math.log1p(-p)
  let sum = Math.exp(logTerm)
  for (let i = 1; i <= k; i += 1) {
    logTerm += Math.log((n - i + 1) / i) + Math.log(p) - Math.log1p(-p)
    sum += Math.exp(logTerm)
  }
  return Math.min(1, sum)
}

/** Where a function that falls from above `level` to below it on [0, 1] crosses it. */
const crossing = (falling: (p: number) => number, level: number): number => {
  let [low, high] = [0, 1]
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2
    if (falling(middle) > level) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Clopper-Pearson interval of a share: exact, never narrower than it should be. `n` is at least 1. */
export const shareInterval = (hits: number, n: number, confidence = 0.9): [number, number] => {
  const tail = (1 - confidence) / 2
  const lower = hits === 0 ? 0 : crossing((p) => binomialAtMost(hits - 1, n, p), 1 - tail)
  const upper = hits === n ? 1 : crossing((p) => binomialAtMost(hits, n, p), tail)
  return [lower, upper]
}
