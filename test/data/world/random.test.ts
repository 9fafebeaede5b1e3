import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashText, Rng } from '../../../data/world/random.ts'

const take = (rng: Rng, count: number): number[] => Array.from({ length: count }, () => rng.next())

describe('Rng', () => {
  it('gives the same numbers for the same seed and fork', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string(), (seed, name) => {
        expect(take(Rng.of(seed).fork(name), 20)).toEqual(take(Rng.of(seed).fork(name), 20))
      }),
    )
  })

  it('forks the same whatever was drawn before', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 50 }), (seed, drawn) => {
        const used = Rng.of(seed)
        take(used, drawn)
        expect(take(used.fork('a'), 5)).toEqual(take(Rng.of(seed).fork('a'), 5))
      }),
    )
  })

  it('int stays within both ends', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat(100), (seed, low, width) => {
        const value = Rng.of(seed).int(low, low + width)
        expect(value).toBeGreaterThanOrEqual(low)
        expect(value).toBeLessThanOrEqual(low + width)
      }),
    )
  })

  it('separates neighbouring seeds and labels', () => {
    const first = [...Array(2000).keys()].map((i) => Rng.of(0).fork(String(i)).next())
    expect(new Set(first).size).toBe(2000)
    expect(first.reduce((sum, one) => sum + one, 0) / 2000).toBeCloseTo(0.5, 1)
    expect(take(Rng.of(1), 3)).not.toEqual(take(Rng.of(2), 3))
  })

  it('spreads evenly over ten buckets', () => {
    const buckets = Array<number>(10).fill(0)
    const rng = Rng.of('even')
    for (let i = 0; i < 20_000; i++) {
      const at = rng.int(0, 9)
      buckets[at] = (buckets[at] ?? 0) + 1
    }
    for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(200)
  })

  it('keeps to the weights of a table', () => {
    const rng = Rng.of('weights')
    const counts = { a: 0, b: 0, never: 0 }
    for (let i = 0; i < 10_000; i++) counts[rng.weighted({ a: 3, b: 1, never: 0 })] += 1
    expect(counts.never).toBe(0)
    expect(counts.a / counts.b).toBeCloseTo(3, 0)
  })

  it('refuses to pick from nothing', () => {
    expect(() => Rng.of(0).pick([])).toThrow('empty list')
  })
})

describe('hashText', () => {
  it('does not change between versions', () => {
    // every seeded choice hangs on it
    expect([hashText(''), hashText('ana'), hashText('reserved:ana')]).toMatchInlineSnapshot(`
      [
        41608494,
        3926105816,
        3793799067,
      ]
    `)
  })
})
