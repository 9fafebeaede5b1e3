import { describe, expect, it } from 'vitest'
import { RewardBreakdown } from '../../data/records/reward.ts'
import { createComposite } from '../../rewards/composite.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { gatherEvidence, type Judgement } from '../../rewards/evidence.ts'
import { goldCompletions, samplePrompts } from '../judge/samples.ts'

const config = RewardsConfig.parse({})
const verdict = (score: number): Judgement => ({
  kind: 'verdict',
  verdict: { score, reason: 'given', model: 'test', cached: false, latencyMs: 0 },
})
const { facts } = samplePrompts.n1

describe('createComposite', () => {
  it('adds nine contributions to a total of at most 5.60', () => {
    const score = createComposite(config, true).score(gatherEvidence('paper', facts, goldCompletions.n1, verdict(1)))
    const { total, components } = RewardBreakdown.parse(score)
    expect(total).toBeCloseTo(5.6, 9)
    expect(Object.keys(components)).toHaveLength(9)
    const contributions = Object.values(components).map(({ weighted }) => weighted)
    expect(contributions.reduce((sum, value) => sum + value, 0)).toBeCloseTo(total, 9)
    for (const { raw, weight, weighted } of Object.values(components)) expect(weighted).toBe(weight * raw)
  })

  it('does not score without the verdict that was wanted, and says why', () => {
    const failed: Judgement = { kind: 'missing', reason: 'the judge timed out' }
    expect(
      createComposite(config, true).score(gatherEvidence('paper', facts, goldCompletions.n1, failed)),
    ).toStrictEqual({
      kind: 'unscored',
      component: 'judge',
      reason: 'the judge timed out',
    })
  })

  it.each([Number.NaN, 1.01, -0.01, Number.POSITIVE_INFINITY])('does not score with a verdict of %s', (value) => {
    const score = createComposite(config, true).score(
      gatherEvidence('paper', facts, goldCompletions.n1, verdict(value)),
    )
    expect(score).toMatchObject({
      kind: 'unscored',
      component: 'judge',
      reason: expect.stringContaining(String(value)),
    })
  })

  it('leaves the judge out altogether when there is none', () => {
    const composite = createComposite(config, false)
    const score = RewardBreakdown.parse(composite.score(gatherEvidence('paper', facts, goldCompletions.n1)))
    expect(composite.names).not.toContain('judge')
    expect(score.components).not.toHaveProperty('judge')
    expect(score.total).toBeCloseTo(4.6, 9)
  })

  it('optimises what the config says', () => {
    const changed = RewardsConfig.parse({
      maxima: { ...config.maxima, judge: 2, xml_count: 0 },
      caps: { reasoning_length: { full: 5, half: 10 } },
    })
    const composite = createComposite(changed, true)
    const { total, components } = RewardBreakdown.parse(
      composite.score(gatherEvidence('paper', facts, goldCompletions.n1, verdict(0.5))),
    )
    expect(composite.maximum).toBeCloseTo(6.1, 9)
    expect(components['judge']).toMatchObject({ raw: 0.5, weight: 2, weighted: 1 })
    expect(components['xml_count']).toMatchObject({ raw: 1, weight: 0, weighted: 0 })
    expect(components['reasoning_length']?.raw).toBe(0)
    expect(total).toBeCloseTo(4.6 - 0.5 - 0.5 + 1, 9)
  })
})
