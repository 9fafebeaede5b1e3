import { describe, expect, it } from 'vitest'
import { Rng } from '../../../data/world/random.ts'
import { Draw } from '../../../data/world/values/draw.ts'
import { isPerson, isReserved, valueKinds, valuesBySplit } from '../../../data/world/values/lists.ts'
import * as words from '../../../data/world/values/words.ts'

describe('values', () => {
  it('are many, short and not repeated', () => {
    for (const list of Object.values(words)) {
      expect(new Set(list).size).toBe(list.length)
      expect(list.length).toBeGreaterThanOrEqual(120)
      expect(list.filter((word) => !/^[a-z0-9][a-z0-9.-]+( [a-z]+)?$/.test(word) || word.length > 18)).toEqual([])
    }
  })

  it('look like no id, so that an id in an observation is one', () => {
    expect(
      Object.values(words)
        .flat()
        .filter((word) => /\b[a-z]\d+\b/.test(word)),
    ).toEqual([])
  })

  it('are reserved one in five, in each list, and never on both sides', () => {
    const train = new Set(valueKinds.flatMap((kind) => valuesBySplit.train[kind]))
    const heldout = new Set(valueKinds.flatMap((kind) => valuesBySplit.heldout[kind]))
    expect([...heldout].filter((value) => train.has(value))).toEqual([])
    for (const kind of valueKinds) {
      const kept = valuesBySplit.heldout[kind].length
      const share = kept / (kept + valuesBySplit.train[kind].length)
      expect(share).toBeGreaterThan(0.16)
      expect(share).toBeLessThan(0.24)
    }
  })

  it('are drawn without repetition, from one side', () => {
    const draw = new Draw(Rng.of(1), 'heldout')
    const names = Array.from({ length: valuesBySplit.heldout.person.length }, () => draw.person())
    expect(new Set(names).size).toBe(names.length)
    expect(names.every((name) => isReserved(name) && isPerson(name))).toBe(true)
    expect(() => draw.person()).toThrow('used up every person')
  })
})
