import { describe, expect, it } from 'vitest'
import { normalCdf, studentCdf, studentQuantile } from '../../../trainer/statistics/quantiles.ts'

describe('quantiles', () => {
  // Any printed table of Student's t.
  it.each([
    [0.975, 1, 12.706205],
    [0.975, 4, 2.776445],
    [0.975, 19, 2.093024],
    [0.95, 19, 1.729133],
    [0.975, 99, 1.984217],
    [0.8, 99, 0.845267],
  ])('of Student’s t are those of the tables: %d with %d degrees', (p, freedom, expected) => {
    expect(studentQuantile(p, freedom)).toBeCloseTo(expected, 5)
    expect(studentQuantile(1 - p, freedom)).toBeCloseTo(-expected, 5)
    expect(studentCdf(expected, freedom)).toBeCloseTo(p, 6)
  })

  it.each([
    [0, 0.5],
    [1, 0.8413447],
    [-1.959964, 0.025],
    [-3, 0.0013499],
  ])('of the normal distribution: %d', (z, expected) => {
    expect(normalCdf(z)).toBeCloseTo(expected, 6)
  })

  it('need a probability', () => {
    for (const p of [0, 1, -0.1, Number.NaN]) expect(() => studentQuantile(p, 5)).toThrow(RangeError)
  })
})
