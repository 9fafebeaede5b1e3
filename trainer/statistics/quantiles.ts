/** Lanczos approximation of log Γ(x) for x > 0 (g = 7, nine terms); relative error below 1e-13. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]
const logGamma = (x: number): number => {
  const shifted = x - 1
  const series = lanczos.reduce((sum, term, i) => (i === 0 ? term : sum + term / (shifted + i)), 0)
  const t = shifted + 7.5
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(series)
}

const tiny = 1e-300
const awayFromZero = (x: number): number => (Math.abs(x) < tiny ? tiny : x)

/** Continued fraction of the incomplete beta function, evaluated by Lentz's method. */
const betaFraction = (x: number, a: number, b: number): number => {
  let c = 1
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  let value = d
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / awayFromZero(1 + even * d)
    c = awayFromZero(1 + even / c)
    value *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / awayFromZero(1 + odd * d)
    c = awayFromZero(1 + odd / c)
    value *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return value
}

/** Regularised incomplete beta function I_x(a, b). */
const betaCdf = (x: number, a: number, b: number): number => {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x))
  // The fraction converges fast on one side only; the other one follows by symmetry.
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** Probability that Student's t with `freedom` degrees is at most `t`. */
export const studentCdf = (t: number, freedom: number): number => {
  const tail = betaCdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
  return t > 0 ? 1 - tail : tail
}

/** A normal variable is the limit of Student's t: at this many degrees they agree to seven digits. */
const nearlyNormal = 1e8

/** Probability that a standard normal variable is at most `z`. */
export const normalCdf = (z: number): number => studentCdf(z, nearlyNormal)

/** The value that Student's t with `freedom` degrees is below with probability `p`, by bisection of its distribution. */
export const studentQuantile = (p: number, freedom: number): number => {
  if (!(p > 0 && p < 1)) throw new RangeError(`a quantile needs a probability between 0 and 1, not ${p}`)
  if (p < 0.5) return -studentQuantile(1 - p, freedom)
  let low = 0
  let high = 1
  while (studentCdf(high, freedom) < p) high *= 2
  for (let i = 0; i < 100 && high - low > 1e-12 * high; i++) {
    const middle = (low + high) / 2
    if (studentCdf(middle, freedom) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
