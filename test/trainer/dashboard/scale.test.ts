import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logExtent, logScale, logTicks } from '../../../trainer/dashboard/page/scale.ts'

const positive = fc.double({ min: 1e-9, max: 1e9, noNaN: true })

describe('a logarithmic axis', () => {
  it('is refused where a value lies below zero, or none above it', () => {
    expect(logExtent([1, -0.1, 2])).toBeNull()
    expect(logExtent([0, null])).toBeNull()
    expect(logExtent([])).toBeNull()
  })
  it('holds every value above zero between its ends, in their order; zero lies at its lower end', () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 9 }), (values) => {
        const range = logExtent([0, null, ...values])
        const scale = logScale(range ?? [1, 1], [0, 100])
        const places = values.toSorted((a, b) => a - b).map(scale)
        expect(places.every((place) => place > 0 && place < 100)).toBe(true)
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        expect(scale(0)).toBe(0)
      }),
    )
  })
  it('puts equal factors at equal distances', () => {
    const scale = logScale([0.01, 100], [0, 4])
    expect([0.01, 0.1, 1, 10, 100].map(scale)).toEqual([0, 1, 2, 3, 4].map((place) => expect.closeTo(place, 9)))
  })
  it('has marks inside its range, few of them, and more than one however narrow it is', () => {
    fc.assert(
      fc.property(positive, fc.double({ min: 1.01, max: 1e9, noNaN: true }), (low, factor) => {
        const ticks = logTicks(low, low * factor)
        expect(ticks.every((tick) => tick >= low * (1 - 1e-8) && tick <= low * factor * (1 + 1e-8))).toBe(true)
        expect(ticks.length).toBeLessThanOrEqual(12)
        expect(ticks.length).toBeGreaterThanOrEqual(2)
      }),
    )
    expect(logTicks(0.9, 11)).toEqual([1, 2, 5, 10])
  })
})
