import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { benjaminiHochberg } from '../../../trainer/statistics/benjamini-hochberg.ts'

const pValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 50 })

describe('the Benjamini-Hochberg adjustment', () => {
  it('is that of an example worked by hand', () => {
    // p · 5 / rank is .005, .05, .05, .05125, .6; each takes the least of its own and of all larger ranks.
    const adjusted = benjaminiHochberg([0.041, 0.001, 0.6, 0.02, 0.03])
    ;[0.05125, 0.005, 0.6, 0.05, 0.05].forEach((expected, i) => expect(adjusted[i]).toBeCloseTo(expected, 12))
  })

  it('passes the better rank’s bound down to a p-value that would otherwise have more', () => {
    const adjusted = benjaminiHochberg([0.04, 0.045])
    ;[0.045, 0.045].forEach((expected, i) => expect(adjusted[i]).toBeCloseTo(expected, 12))
  })

  it('leaves a single p-value alone, is never smaller than the p-value, and keeps their order', () => {
    expect(benjaminiHochberg([0.3])).toStrictEqual([0.3])
    fc.assert(
      fc.property(pValues, (list) => {
        const adjusted = benjaminiHochberg(list)
        list.forEach((p, i) => {
          expect(adjusted[i]).toBeGreaterThanOrEqual(p)
          expect(adjusted[i]).toBeLessThanOrEqual(1)
          const ofLarger = adjusted.filter((_, j) => p < (list[j] ?? 0))
          expect(Math.min(...ofLarger)).toBeGreaterThanOrEqual(adjusted[i] ?? 2)
        })
      }),
    )
  })

  it('rejects what the step-up procedure rejects', () => {
    fc.assert(
      fc.property(pValues, fc.double({ min: 0.01, max: 0.5, noNaN: true }), (list, level) => {
        const sorted = list.toSorted((a, b) => a - b)
        const last = sorted.findLastIndex((p, i) => p * (list.length / (i + 1)) <= level)
        const bound = last === -1 ? -1 : (sorted[last] ?? -1)
        expect(benjaminiHochberg(list).map((q) => q <= level)).toStrictEqual(list.map((p) => p <= bound))
      }),
    )
  })
})
