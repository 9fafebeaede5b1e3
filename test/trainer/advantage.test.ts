import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { packageRoot } from '../../data/package-root.ts'
import type { Score } from '../../data/records/reward.ts'
import { sampleDeviation } from '../../data/statistics.ts'
import { groupAdvantages, type AdvantageOptions, type ScoredGroup } from '../../trainer/advantage.ts'

const plain: AdvantageOptions = { scale: 'group', stdFloor: 0, perComponent: false }

/** A score whose single component carries the whole reward. */
const score = (total: number | null): Score =>
  total === null
    ? { kind: 'unscored', component: 'judge', reason: 'timed out' }
    : { kind: 'scored', total, components: { only: { raw: total, weight: 1, weighted: total, detail: '' } } }

const group = (rewards: readonly (number | null)[], promptId = 'p'): ScoredGroup => ({
  promptId,
  node: 'n1',
  scores: rewards.map(score),
})
const one = (rewards: readonly (number | null)[], options: AdvantageOptions = plain) => {
  const [result] = groupAdvantages([group(rewards)], options)
  if (result === undefined) throw new Error('no result')
  return result
}

/** A score made of named weighted contributions; weight 1 unless given. */
const composed = (parts: Record<string, number>, weights: Record<string, number> = {}): Score => ({
  kind: 'scored',
  total: Object.values(parts).reduce((a, b) => a + b, 0),
  components: Object.fromEntries(
    Object.entries(parts).map(([name, weighted]) => [
      name,
      { raw: weighted / (weights[name] ?? 1), weight: weights[name] ?? 1, weighted, detail: '' },
    ]),
  ),
})

const Cases = z.object({
  advantages: z.array(
    z.object({
      rewards: z.array(z.number().nullable()),
      advantages: z.array(z.number()),
      std_floor: z.number().default(0),
    }),
  ),
})
const casesPath = join(packageRoot(), 'test/cases/grpo.json')

describe('group advantages', () => {
  it('reproduce every reference case', () => {
    const { advantages } = Cases.parse(JSON.parse(readFileSync(casesPath, 'utf8')))
    expect(advantages.length).toBeGreaterThan(10)
    for (const reference of advantages) {
      const result = one(reference.rewards, { ...plain, stdFloor: reference.std_floor })
      for (const [i, expected] of reference.advantages.entries())
        expect(result.advantages[i] ?? 0).toBeCloseTo(expected, 8)
    }
  })

  it('give an unscored completion null and leave it out of mean and deviation', () => {
    const result = one([null, 1, 1, 0])
    expect(result.advantages[0]).toBeNull()
    expect(result.mean).toBeCloseTo(2 / 3, 12)
    expect(result.skipped).toBeNull()
  })

  it('skip a group with one scored completion, and one whose rewards are exactly equal', () => {
    expect(one([null, null, null, 1])).toMatchObject({
      skipped: 'too_few_scored',
      mean: null,
      std: null,
      advantages: [null, null, null, 0],
    })
    expect(one([0.1, 0.1, 0.1])).toMatchObject({ skipped: 'no_spread', std: 0, advantages: [0, 0, 0] })
  })

  it('do not mistake rounding for spread: seven equal values and one a little larger stay near their deviation', () => {
    const rewards = [...Array<number>(7).fill(Math.fround(0.1)), Math.fround(0.1) + 1e-9]
    expect(Math.max(...one(rewards).advantages.map((a) => Math.abs(a ?? 0)))).toBeLessThan(1e-4)
  })

  it('scale by the batch deviation, or not at all', () => {
    const groups = [group([1, 0], 'a'), group([5, 3], 'b')]
    const all = sampleDeviation([1, 0, 5, 3]) + 1e-4
    expect(groupAdvantages(groups, { ...plain, scale: 'batch' }).map((g) => g.advantages)).toEqual([
      [0.5 / all, -0.5 / all],
      [1 / all, -1 / all],
    ])
    expect(groupAdvantages(groups, { ...plain, scale: 'none' }).map((g) => g.advantages)).toEqual([
      [0.5, -0.5],
      [1, -1],
    ])
  })

  it('per component: a component of tiny spread counts as much as a wide one, unless a floor says otherwise', () => {
    const scores = [composed({ form: 4, judge: 0.5 }), composed({ form: 0, judge: 0.52 })]
    const groups = [{ promptId: 'p', node: 'n2' as const, scores }]
    const free = groupAdvantages(groups, { ...plain, perComponent: true })[0]?.advantages ?? []
    const floored = groupAdvantages(groups, { ...plain, perComponent: true, stdFloor: 0.5 })[0]?.advantages ?? []
    expect(Math.abs(free[0] ?? 9)).toBeLessThan(Math.abs(floored[0] ?? 0))
    expect(floored[0]).toBeGreaterThan(0)
  })

  it('per component: equal totals with different parts still carry a signal, weighted by component', () => {
    const weights = { form: 1, judge: 3 }
    const scores = [composed({ form: 1, judge: 0 }, weights), composed({ form: 0, judge: 1 }, weights)]
    const [result] = groupAdvantages([{ promptId: 'p', node: 'n3', scores }], { ...plain, perComponent: true })
    expect(result?.skipped).toBeNull()
    expect(result?.advantages[1]).toBeGreaterThan(0)
  })

  const reward = fc.oneof(fc.constantFrom(0, 0.5, 5.5, 5.55), fc.double({ min: -0.5, max: 5.6, noNaN: true }))
  const rewards = fc.array(fc.oneof({ weight: 4, arbitrary: reward }, { weight: 1, arbitrary: fc.constant(null) }), {
    minLength: 1,
    maxLength: 9,
  })
  const anyOptions = fc.record({
    scale: fc.constantFrom('group' as const, 'batch' as const, 'none' as const),
    stdFloor: fc.constantFrom(0, 0.1),
    perComponent: fc.boolean(),
  })

  it('are finite, sum to zero in each group, and null exactly where the completion is unscored', () => {
    fc.assert(
      fc.property(fc.array(rewards, { minLength: 1, maxLength: 5 }), anyOptions, (batch, options) => {
        const results = groupAdvantages(
          batch.map((r, i) => group(r, `p${i}`)),
          options,
        )
        for (const [i, result] of results.entries()) {
          expect(result.advantages.map((a) => a === null)).toEqual(batch[i]?.map((r) => r === null))
          const values = result.advantages.filter((a) => a !== null)
          expect(values.every(Number.isFinite)).toBe(true)
          expect(Math.abs(values.reduce((a, b) => a + b, 0))).toBeLessThan(1e-6)
        }
      }),
    )
  })

  it('keep the order of rewards and the bound (n - 1) / sqrt(n)', () => {
    fc.assert(
      fc.property(fc.array(reward, { minLength: 2, maxLength: 8 }), (values) => {
        const { advantages } = one(values)
        const bound = (values.length - 1) / Math.sqrt(values.length)
        for (const [i, a] of advantages.entries()) {
          expect(Math.abs(a ?? Infinity)).toBeLessThanOrEqual(bound + 1e-9)
          const better = advantages.filter((_, j) => (values[i] ?? 0) < (values[j] ?? 0))
          for (const b of better) expect(a).toBeLessThanOrEqual(b ?? -Infinity)
        }
      }),
    )
  })

  it('do not depend on the order of completions', () => {
    fc.assert(
      fc.property(fc.array(reward, { minLength: 2, maxLength: 6 }), (values) => {
        const forward = one(values).advantages
        const backward = one(values.toReversed()).advantages.toReversed()
        for (const [i, a] of forward.entries()) expect(a).toBeCloseTo(backward[i] ?? NaN, 9)
      }),
    )
  })
})
