import { describe, expect, it } from 'vitest'
import { mean, quantile, sampleDeviation } from '../../data/statistics.ts'

describe('statistics of a list', () => {
  it('knows small lists', () => {
    expect(mean([2, 4, 9])).toBe(5)
    expect(sampleDeviation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(Math.sqrt(32 / 7), 12)
    expect(sampleDeviation([3])).toBe(0)
    expect([0, 0.25, 0.5, 1].map((at) => quantile([1, 2, 3, 4], at))).toStrictEqual([1, 1.75, 2.5, 4])
  })

  it('gives equal values no spread, whatever rounding their mean has', () => {
    expect(sampleDeviation([0.1, 0.1, 0.1])).toBe(0)
  })
})
