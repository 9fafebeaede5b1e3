import { describe, expect, it } from 'vitest'
import { drawnBits, drawnIndices } from '../../../trainer/statistics/resampling.ts'

const rows = (count: number, resamples: number, seed = 1): number[][] => {
  const { table, start } = drawnIndices(seed, count, resamples)
  return Array.from({ length: resamples }, (_, r) => {
    const from = start(r)
    return [...table.subarray(from, from + count)]
  })
}

describe('random numbers that measures share', () => {
  it('are the same for the same seed and sizes, and others for others', () => {
    expect(rows(7, 20)).toStrictEqual(rows(7, 20))
    expect(rows(7, 20)).not.toStrictEqual(rows(7, 20, 2))
    expect(drawnBits(1, 2, 10)).toStrictEqual(drawnBits(1, 2, 10))
    expect(drawnBits(1, 2, 10)).not.toStrictEqual(drawnBits(2, 2, 10))
  })

  it('name values that exist, each about equally often', () => {
    const all = rows(5, 2000).flat()
    expect(new Set(all)).toStrictEqual(new Set([0, 1, 2, 3, 4]))
    for (let i = 0; i < 5; i++) expect(all.filter((index) => index === i).length / 10_000).toBeCloseTo(0.2, 1)
  })

  it('do not depend on whether they fit into the memory that is kept', () => {
    // 70,000 values are drawn as they are read; the first resample is the first draws of the same seed.
    const large = drawnIndices(1, 70_000, 3)
    large.start(0)
    const first = large.table.slice(0, 5)
    const small = drawnIndices(1, 7, 1)
    const scaled = [...small.table.subarray(0, 5)].map((index) => index / 7)
    first.forEach((index, i) => expect(Math.abs(index / 70_000 - (scaled[i] ?? 0))).toBeLessThan(1 / 7))
  })

  it('stay the same when others pushed them out', () => {
    const before = rows(300, 1000)
    for (let seed = 0; seed < 20; seed++) rows(300, 1000, 100 + seed)
    expect(rows(300, 1000)).toStrictEqual(before)
  })
})
