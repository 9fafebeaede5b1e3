/** Chance of at most `k` successes in `n` trials, each with chance `p`. */
const atMost = (k: number, n: number, p: number): number => {
  if (p <= 0) return 1
  if (p >= 1) return k >= n ? 1 : 0
  let term = n * Math.log(1 - p)
  let sum = Math.exp(term)
  for (let i = 1; i <= k; i++) {
    term += Math.log((n - i + 1) / i) + Math.log(p / (1 - p))
    sum += Math.exp(term)
  }
  return Math.min(1, sum)
}

/** Where a falling function of a chance crosses a value. */
const crossing = (value: number, of: (p: number) => number): number => {
  let [low, high] = [0, 1]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (of(middle) > value) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Exact 95 % interval of a chance after `k` successes in `n` trials (Clopper and Pearson 1934). */
export const binomialInterval = (k: number, n: number): readonly [low: number, high: number] => [
  k === 0 ? 0 : crossing(0.975, (p) => atMost(k - 1, n, p)),
  k === n ? 1 : crossing(0.025, (p) => atMost(k, n, p)),
]
