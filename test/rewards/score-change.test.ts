import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RewardBreakdown, Score } from '../../data/records/reward.ts'
import { rewardNames } from '../../rewards/registry.generated.ts'
import { compareScores } from '../../rewards/score-change.ts'

const contributions = fc.array(fc.double({ min: -0.5, max: 1, noNaN: true }), {
  minLength: rewardNames.length,
  maxLength: rewardNames.length,
})

const scored = (weighted: readonly number[], detail = ''): RewardBreakdown => ({
  kind: 'scored',
  total: weighted.reduce((sum, value) => sum + value, 0),
  components: Object.fromEntries(
    rewardNames.map((name, i) => [name, { raw: weighted[i] ?? 0, weight: 1, weighted: weighted[i] ?? 0, detail }]),
  ),
})
const unscored = (reason: string): Score => ({ kind: 'unscored', component: 'judge', reason })

describe('compareScores', () => {
  it('finds nothing between equal rewards, whatever explains them', () => {
    fc.assert(
      fc.property(contributions, (values) => {
        expect(compareScores(scored(values, 'one text'), scored(values, 'another'))).toBeNull()
      }),
    )
    expect(compareScores(unscored('a'), unscored('b'))).toBeNull()
  })

  it('takes rounding for what it is', () => {
    expect(compareScores(scored([0.1 + 0.2]), scored([0.3]))).toBeNull()
  })

  it('names exactly the components that differ', () => {
    fc.assert(
      fc.property(
        contributions,
        fc.uniqueArray(fc.nat(rewardNames.length - 1), { minLength: 1 }),
        fc.double({ min: 1e-6, max: 1, noNaN: true }),
        (values, changed, by) => {
          const after = values.map((value, i) => (changed.includes(i) ? value + by : value))
          const change = compareScores(scored(values), scored(after))
          expect(change?.components.map(({ name }) => name)).toStrictEqual(
            rewardNames.filter((_, i) => changed.includes(i)),
          )
        },
      ),
    )
  })

  it('sees changes that cancel out in R', () => {
    const change = compareScores(scored([0.5, 0]), scored([0, 0.5]))
    expect(change).toMatchObject({ before: 0.5, after: 0.5 })
    expect(change?.components).toHaveLength(2)
  })

  it('sees a component that came or went', () => {
    const { judge, ...others } = scored([]).components
    expect(judge).toBeDefined()
    const without: RewardBreakdown = { kind: 'scored', total: 0, components: others }
    expect(compareScores(scored([]), without)?.components).toStrictEqual([{ name: 'judge', before: 0, after: null }])
  })

  it('sees a completion that lost its reward, or got one, with the reason', () => {
    expect(compareScores(scored([1]), unscored('no answer'))).toStrictEqual({
      before: 1,
      after: null,
      beforeReason: null,
      afterReason: 'judge: no answer',
      components: [],
    })
    expect(compareScores(unscored('no answer'), scored([1]))).toMatchObject({ before: null, after: 1 })
  })

  it('does not take NaN for equal', () => {
    expect(compareScores(scored([Number.NaN]), scored([Number.NaN]))).not.toBeNull()
  })
})
