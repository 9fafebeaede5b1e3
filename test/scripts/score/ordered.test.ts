import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapOrdered } from '../../../scripts/score/ordered.ts'

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('mapOrdered', () => {
  it('keeps the order and the limit, however long each item takes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5)), fc.integer({ min: 1, max: 8 }), async (turns, limit) => {
        let open = 0
        let most = 0
        const work = async (wait: number, at: number): Promise<number> => {
          open += 1
          most = Math.max(most, open)
          for (let i = 0; i < wait; i += 1) await Promise.resolve()
          open -= 1
          return at
        }
        const items = turns.map((wait, at) => ({ wait, at }))
        const done = await collect(mapOrdered(from(items), limit, ({ wait, at }) => work(wait, at)))
        expect(done).toStrictEqual(items.map(({ at }) => at))
        expect(most).toBeLessThanOrEqual(limit)
      }),
    )
  })

  it('ends with the first failure, in order', async () => {
    const seen: number[] = []
    const mapped = mapOrdered(from([1, 2, 3, 4]), 2, (item) =>
      item >= 2 ? Promise.reject(new Error(`no ${item}`)) : Promise.resolve(item),
    )
    const reading = (async () => {
      for await (const item of mapped) seen.push(item)
    })()
    await expect(reading).rejects.toThrow('no 2')
    expect(seen).toStrictEqual([1])
  })
})
