import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Rng } from '../../../data/world/random.ts'
import { signFlipTest } from '../../../trainer/statistics/sign-flip.ts'

const options = { seed: 3, resamples: 2000 } as const
const values = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 30 })

describe('the sign-flip test', () => {
  it('agrees with patterns counted by hand', () => {
    // Of the eight sums of ±1 ±2 ±3 only −6 is at or below −6; two are as far from 0.
    expect(signFlipTest([-1, -2, -3], { ...options, alternative: 'less' })).toBe(1 / 8)
    expect(signFlipTest([-1, -2, -3], { ...options, alternative: 'two-sided' })).toBe(2 / 8)
    // −4: reached by −6 and by 1 − 2 − 3.
    expect(signFlipTest([1, -2, -3], { ...options, alternative: 'less' })).toBe(2 / 8)
  })

  it('finds nothing in ties, and ties change nothing', () => {
    expect(signFlipTest([0, 0, 0], { ...options, alternative: 'less' })).toBe(1)
    expect(signFlipTest([], { ...options, alternative: 'two-sided' })).toBe(1)
    expect(signFlipTest([0, -1, -2, 0, -3], { ...options, alternative: 'less' })).toBe(1 / 8)
  })

  it('gives a chance, the same one for any order, and for any scale', () => {
    fc.assert(
      fc.property(values, fc.constantFrom('less' as const, 'two-sided' as const), (list, alternative) => {
        const p = signFlipTest(list, { ...options, alternative })
        expect(p).toBeGreaterThan(0)
        expect(p).toBeLessThanOrEqual(1)
        expect(signFlipTest(list.toReversed(), { ...options, alternative })).toBe(p)
        expect(
          signFlipTest(
            list.map((value) => value * 4),
            { ...options, alternative },
          ),
        ).toBe(p)
      }),
      { numRuns: 50 },
    )
  })

  it('is two-sided in the same way for gains and for losses', () => {
    const list = [0.4, 1, -0.2, 0.7, 0.9, 1.4]
    const mirrored = list.map((value) => -value)
    const twoSided = { ...options, alternative: 'two-sided' } as const
    expect(signFlipTest(list, twoSided)).toBe(signFlipTest(mirrored, twoSided))
  })

  it.each([8, 20])('is below 0.05 about once in twenty times when there is no difference (%d pairs)', (count) => {
    const rng = Rng.of(`null ${count}`)
    const runs = 2000
    let found = 0
    for (let seed = 0; seed < runs; seed++) {
      const list = Array.from({ length: count }, () => (rng.chance(0.5) ? 1 : -1) * -Math.log(1 - rng.next()))
      if (signFlipTest(list, { seed, resamples: 500, alternative: 'less' }) <= 0.05) found += 1
    }
    expect(found / runs).toBeLessThan(0.065)
    expect(found / runs).toBeGreaterThan(0.035)
  })
})
