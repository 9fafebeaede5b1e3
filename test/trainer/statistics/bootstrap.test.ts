import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Rng } from '../../../data/world/random.ts'
import { bootstrapInterval } from '../../../trainer/statistics/bootstrap.ts'

const values = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 2, maxLength: 40 })
const quick = { seed: 1, resamples: 400 }

const normal = (rng: Rng): number => Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next())

/** Distributions with known means; the last one is like a component that is lost now and then. */
const distributions = {
  normal: { mean: 0, draw: normal },
  uniform: { mean: 0.5, draw: (rng: Rng) => rng.next() },
  exponential: { mean: 1, draw: (rng: Rng) => -Math.log(1 - rng.next()) },
  'mean of four steps': {
    mean: 0,
    draw: (rng: Rng) => (rng.int(-1, 1) + rng.int(-1, 1) + rng.int(-1, 1) + rng.int(-1, 1)) / 4,
  },
}

const coverage = (name: keyof typeof distributions, count: number, runs: number): number => {
  const rng = Rng.of(`${name} ${count}`)
  const { mean, draw } = distributions[name]
  let covered = 0
  for (let seed = 0; seed < runs; seed++) {
    const sample = Array.from({ length: count }, () => draw(rng))
    const interval = bootstrapInterval(sample, { seed, resamples: 500 })
    if (interval !== null && interval.low <= mean && mean <= interval.high) covered += 1
  }
  return covered / runs
}

describe('the bootstrap interval', () => {
  it('has the same digits for the same values and seed, whatever their order', () => {
    fc.assert(
      fc.property(values, (list) => {
        const interval = bootstrapInterval(list, quick)
        expect(bootstrapInterval(list.toReversed(), quick)).toStrictEqual(interval)
      }),
      { numRuns: 50 },
    )
  })

  it('lies around the mean, inside the values, and is wider at a higher level', () => {
    fc.assert(
      fc.property(values, (list) => {
        const wide = bootstrapInterval(list, { ...quick, level: 0.99 })!
        const narrow = bootstrapInterval(list, { ...quick, level: 0.8 })!
        expect(wide.low).toBeLessThanOrEqual(narrow.low + 1e-12)
        expect(wide.high).toBeGreaterThanOrEqual(narrow.high - 1e-12)
        expect(wide.low).toBeGreaterThanOrEqual(Math.min(...list) - 1e-12)
        expect(wide.high).toBeLessThanOrEqual(Math.max(...list) + 1e-12)
      }),
      { numRuns: 50 },
    )
  })

  it('moves and stretches with the values', () => {
    const list = [0.3, -1.2, 0.8, 2.1, 0, 0.4]
    const interval = bootstrapInterval(list, quick)!
    const moved = bootstrapInterval(
      list.map((value) => 2 * value + 3),
      quick,
    )!
    expect(moved.low).toBeCloseTo(2 * interval.low + 3, 9)
    expect(moved.high).toBeCloseTo(2 * interval.high + 3, 9)
  })

  it('is a point where all values agree, and nothing where there is only one', () => {
    expect(bootstrapInterval([0.5, 0.5, 0.5], quick)).toStrictEqual({ low: 0.5, high: 0.5 })
    expect(bootstrapInterval([0.5], quick)).toBeNull()
    expect(bootstrapInterval([], quick)).toBeNull()
  })

  // Plain percentiles cover about 0.92 of the time with 20 normal values: the bounds would tell.
  it.each([
    ['normal', 20, 0.932, 0.972],
    ['uniform', 20, 0.932, 0.972],
    ['mean of four steps', 20, 0.932, 0.972],
    ['exponential', 20, 0.895, 0.955],
    ['normal', 100, 0.93, 0.97],
    ['exponential', 100, 0.915, 0.965],
  ] as const)(
    'covers the mean of a %s distribution about as often as it says, with %d values',
    (name, n, low, high) => {
      const share = coverage(name, n, 1000)
      expect(share).toBeGreaterThan(low)
      expect(share).toBeLessThan(high)
    },
  )
})
