import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { placeRank } from '../../../trainer/statistics/select.ts'

const lists = fc
  .array(fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: -2, max: 2 })), { minLength: 1, maxLength: 60 })
  .map((values) => values.map((value) => value + 0))

describe('placing a rank', () => {
  it('puts there what sorting puts there, smaller ones before and larger ones behind', () => {
    fc.assert(
      fc.property(lists, fc.nat(), (list, number) => {
        const rank = number % list.length
        const values = Float64Array.from(list)
        placeRank(values, rank)
        const sorted = Float64Array.from(list).toSorted()
        expect(values[rank]! - sorted[rank]! || 0).toBe(0)
        expect(values.subarray(0, rank).every((value) => value <= values[rank]!)).toBe(true)
        expect(values.subarray(rank).every((value) => value >= values[rank]!)).toBe(true)
        expect(values.toSorted()).toStrictEqual(sorted)
      }),
    )
  })
})
