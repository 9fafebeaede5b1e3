import { describe, expect, it } from 'vitest'
import { RewardsConfig, rewardMaximum } from '../../rewards/config.ts'
import { rewardNames } from '../../rewards/registry.generated.ts'

const issuesOf = (input: unknown): readonly string[] => {
  const result = RewardsConfig.safeParse(input)
  return result.success ? [] : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}

const defaults = RewardsConfig.parse({})

describe('RewardsConfig', () => {
  it('defaults to the fitted values: 5.60 in all, 4.60 without a judge', () => {
    expect(defaults.profile).toBe('paper')
    expect(rewardMaximum(defaults, true)).toBeCloseTo(5.6, 12)
    expect(rewardMaximum(defaults, false)).toBeCloseTo(4.6, 12)
  })

  it('wants exactly one maximum for each component, and names the one that is missing or misspelt', () => {
    expect(Object.keys(defaults.maxima).toSorted()).toStrictEqual([...rewardNames].toSorted())
    const { judge, ...rest } = defaults.maxima
    expect(issuesOf({ maxima: rest }).join()).toMatch(/maxima\.judge/u)
    expect(issuesOf({ maxima: { ...rest, juge: judge } }).join()).toMatch(/juge/u)
    expect(issuesOf({ maxima: { ...rest, judge: -1 } }).join()).toMatch(/maxima\.judge/u)
    expect(issuesOf({ maxima: { ...rest, judge: Number.POSITIVE_INFINITY } }).join()).toMatch(/maxima\.judge/u)
    expect(issuesOf({ maxima: { ...rest, judge: 2 } })).toStrictEqual([])
  })

  it('fills caps field by field, and names the one that is misspelt', () => {
    const config = RewardsConfig.parse({ caps: { reasoning_length: { full: 20 } } })
    expect(config.caps['reasoning_length']).toStrictEqual({ minimum: 3, full: 20, half: 75 })
    expect(config.caps['xml_count']).toStrictEqual({ trailingPenalty: 0.002, floor: -1 })
    expect(issuesOf({ caps: { reasoning_length: { ful: 20 } } }).join()).toMatch(/caps\.reasoning_length.*ful/u)
    expect(issuesOf({ caps: { reasoning: {} } }).join()).toMatch(/reasoning/u)
  })

  it('follows a changed maximum', () => {
    const config = RewardsConfig.parse({ maxima: { ...defaults.maxima, judge: 3 } })
    expect(rewardMaximum(config, true)).toBeCloseTo(7.6, 12)
  })
})
