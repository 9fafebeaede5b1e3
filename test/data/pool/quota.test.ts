import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allocate, divide, largestBalanced } from '../../../data/pool/quota.ts'
import { nodeIds } from '../../../data/records/node.ts'

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0)
const groups = [
  'not_aligned',
  'aligned_first_step',
  'aligned_before_exposure',
  'aligned_after_exposure',
  'writes',
  'reads',
  'mixed',
  'one_app',
  'unlabelled',
]
const counts = fc.dictionary(fc.constantFrom(...groups), fc.nat(300)).map((given) => new Map(Object.entries(given)))

describe('quotas', () => {
  test('divide a number without loss, each part within one of its exact share', () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.dictionary(fc.string(), fc.double({ min: 0.01, max: 1, noNaN: true }), { minKeys: 1 }),
        (total, shares) => {
          const parts = divide(total, shares)
          const whole = sum(Object.values(shares))
          expect(sum(parts.values())).toBe(total)
          for (const [name, part] of parts)
            expect(Math.abs(part - (total * (shares[name] ?? 0)) / whole)).toBeLessThan(1)
        },
      ),
    )
  })

  test('never ask for more than is there, nor for more than was wanted', () => {
    fc.assert(
      fc.property(fc.constantFrom(...nodeIds), counts, fc.nat(500), (node, available, wanted) => {
        const taken = allocate(node, available, wanted)
        expect(sum(taken.values())).toBeLessThanOrEqual(wanted)
        for (const [group, count] of taken) {
          expect(count).toBeGreaterThanOrEqual(0)
          expect(count).toBeLessThanOrEqual(available.get(group) ?? 0)
        }
      }),
    )
  })

  test('let another class grow by half where one is short, and no further', () => {
    const available = new Map([
      ['escalate_human', 1000],
      ['rollback_before_drift', 10],
    ])
    expect(Object.fromEntries(allocate('n5', available, 100))).toEqual({
      escalate_human: 75,
      rollback_before_drift: 10,
    })
  })

  test('find the largest number that keeps four fifths of each share', () => {
    const available = new Map([
      ['escalate_human', 1000],
      ['rollback_before_drift', 40],
    ])
    expect(largestBalanced('n5', available)).toBe(100)
    expect(Object.fromEntries(allocate('n5', available, 100))).toEqual({
      escalate_human: 60,
      rollback_before_drift: 40,
    })
  })
})
