import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { binomialAtMost, ranks, shareInterval, spearman, spearmanInterval } from '../../../judge/audit/statistics.ts'

const values = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 3, maxLength: 40 })

describe('ranks', () => {
  it('shares the mean rank among equal values', () => {
    expect(ranks([10, 20, 20, 5])).toStrictEqual([2, 3.5, 3.5, 1])
  })

  it('always adds up to n(n + 1)/2', () => {
    fc.assert(
      fc.property(values, (list) => {
        const sum = ranks(list).reduce((total, rank) => total + rank, 0)
        expect(sum).toBeCloseTo((list.length * (list.length + 1)) / 2, 9)
      }),
    )
  })
})

describe('spearman', () => {
  it('knows textbook values', () => {
    // IQ and hours of television of ten people: −29/165.
    const iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    const hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    expect(spearman(iq, hours)).toBeCloseTo(-29 / 165, 12)
    // With ties, by Pearson's formula on mean ranks: 4.5/√(4.5·5) of [1, 2, 2, 3] and [1, 2, 3, 4].
    expect(spearman([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12)
  })

  it('is symmetric, bounded, and blind to any rising change of scale', () => {
    fc.assert(
      fc.property(values, fc.infiniteStream(fc.integer({ min: -5, max: 5 })), (x, stream) => {
        const y = x.map(() => stream.next().value as number)
        const r = spearman(x, y)
        expect(spearman(y, x)).toStrictEqual(r)
        expect(Math.abs(r ?? 0)).toBeLessThanOrEqual(1)
        const grown = x.map((value) => Math.exp(value))
        expect(spearman(grown, y) ?? 0).toBeCloseTo(r ?? 0, 9)
        expect(
          spearman(
            x,
            x.map((value) => -value),
          ) ?? -1,
        ).toBeCloseTo(-1, 9)
      }),
    )
  })

  it('is null where it means nothing', () => {
    expect(spearman([1, 2], [1, 2])).toBeNull()
    expect(spearman([1, 1, 1], [1, 2, 3])).toBeNull()
  })

  it('has an interval around it that narrows with more pairs', () => {
    const few = spearmanInterval(0.5, 20)
    const many = spearmanInterval(0.5, 2000)
    // atanh 0.5 ± 1.96 √(1.125/17), back through tanh.
    expect(few?.[0]).toBeCloseTo(Math.tanh(Math.atanh(0.5) - 1.959964 * Math.sqrt(1.125 / 17)), 9)
    expect((many?.[1] ?? 1) - (many?.[0] ?? 0)).toBeLessThan((few?.[1] ?? 0) - (few?.[0] ?? 1))
    expect(spearmanInterval(0.5, 9)).toBeNull()
    expect(spearmanInterval(null, 100)).toBeNull()
  })
})

describe('shareInterval', () => {
  it('knows the exact values', () => {
    // None of n at 95 % (two-sided): 1 − 0.025^(1/n). Three of fifteen: from tables.
    expect(shareInterval(0, 10, 0.95)).toStrictEqual([0, expect.closeTo(1 - 0.025 ** (1 / 10), 9)])
    expect(shareInterval(10, 10, 0.95)).toStrictEqual([expect.closeTo(0.025 ** (1 / 10), 9), 1])
    expect(shareInterval(3, 15, 0.95)).toStrictEqual([expect.closeTo(0.0433, 4), expect.closeTo(0.4809, 4)])
  })

  it('ends where the tails have what the confidence leaves', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(60), (n, some) => {
        const hits = some % (n + 1)
        const [low, high] = shareInterval(hits, n)
        expect(low).toBeLessThanOrEqual(hits / n)
        expect(high).toBeGreaterThanOrEqual(hits / n)
        expect(hits === 0 ? 0.05 : 1 - binomialAtMost(hits - 1, n, low)).toBeCloseTo(0.05, 6)
        expect(hits === n ? 0.05 : binomialAtMost(hits, n, high)).toBeCloseTo(0.05, 6)
      }),
    )
  })
})

describe('binomialAtMost', () => {
  it('adds up Pascal’s triangle', () => {
    expect(binomialAtMost(1, 4, 0.5)).toBeCloseTo(5 / 16, 12)
    expect(binomialAtMost(3, 10, 0.1)).toBeCloseTo(0.9872048016, 9)
    expect([binomialAtMost(0, 5, 0), binomialAtMost(4, 5, 1), binomialAtMost(5, 5, 1)]).toStrictEqual([1, 0, 1])
  })
})
