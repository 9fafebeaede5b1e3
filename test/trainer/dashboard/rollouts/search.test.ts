import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Columns } from '../../../../trainer/dashboard/rollouts/columns.ts'
import { newestFirst, ordered, orders } from '../../../../trainer/dashboard/rollouts/order.ts'
import { findInTexts } from '../../../../trainer/dashboard/rollouts/search.ts'

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '🙂'), maxLength: 8 })

describe('searching texts that lie one after the other', () => {
  it('finds the texts that hold the words, and none that only begins or ends with them', () => {
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 12 }),
        letters.filter((text) => text !== ''),
        (texts, needle) => {
          const bytes = texts.map((text) => Buffer.from(text))
          const found: number[] = []
          findInTexts(
            Buffer.concat(bytes),
            Buffer.from(needle),
            (row) => bytes[row]?.length ?? 0,
            texts.length,
            (row) => found.push(row),
          )
          expect(found).toEqual(texts.flatMap((text, i) => (text.includes(needle) ? [i] : [])))
        },
      ),
    )
  })
})

describe('orders of rows', () => {
  const value = fc.oneof(fc.double({ min: -6, max: 6, noNaN: true }), fc.constantFrom(Number.NaN, 0, -0, 1))
  const row = fc.record({ step: fc.nat(20), total: value, advantage: value, judge: value, tokens: fc.nat(700) })

  it.each(orders)('by %s are those of a comparison of rows', (order) => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const columns = new Columns()
        for (const [i, one] of rows.entries()) {
          columns.of.step.set(i, one.step)
          columns.of.total.set(i, one.total)
          columns.of.advantage.set(i, one.advantage)
          columns.of.judge.set(i, one.judge)
          columns.of.tokens.set(i, one.tokens)
        }
        columns.count = rows.length
        const key = (i: number): number => {
          const { total, advantage, judge, tokens } = rows[i] ?? { total: 0, advantage: 0, judge: 0, tokens: 0 }
          const of = {
            newest: 0,
            best: -total,
            worst: total,
            advantage: -Math.abs(advantage),
            longest: -tokens,
            judge: -judge,
          }
          return Number.isNaN(of[order]) ? Infinity : Math.fround(of[order])
        }
        const places = rows.map((_, i) => i)
        const expected = places.toSorted(
          (a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)) || (rows[b]?.step ?? 0) - (rows[a]?.step ?? 0) || a - b,
        )
        expect([...ordered(columns, newestFirst(columns), order)]).toEqual(expected)
      }),
    )
  })
})
