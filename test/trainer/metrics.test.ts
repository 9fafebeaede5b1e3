import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StepMetrics } from '../../data/records/metrics.ts'
import { groupAdvantages } from '../../trainer/advantage.ts'
import { summariseStep, varianceShares } from '../../trainer/metrics.ts'
import type { AssessedGroup } from '../../trainer/score.ts'
import { assessed } from '../support/assessed.ts'

const times = { sample: 1, score: 0.25, update: 0.5, publish: 0.125, other: 0.125 }
const summarise = (groups: readonly AssessedGroup[]) => {
  const scored = groups.map(({ group, assessments }) => ({
    promptId: group.promptId,
    node: group.node,
    scores: assessments.map(({ score }) => score),
  }))
  const advantages = groupAdvantages(scored, { scale: 'group', stdFloor: 0, perComponent: false })
  return StepMetrics.parse(
    summariseStep({
      step: 3,
      attempt: 1,
      at: '2026-01-01T00:00:00.000Z',
      fromVersion: 2,
      version: 2,
      groups,
      advantages,
      update: null,
      canary: null,
      totalTokens: 99,
      times,
    }),
  )
}

describe('the metrics of a step', () => {
  const groups = [
    assessed('a', 'n1', [{ form: 1, judge: 0 }, { form: 0, judge: 0 }, null]),
    assessed('b', 'n1', [{ form: 0.5, judge: 0.5 }]),
    assessed('c', 'n3', [
      { form: 2, judge: 1 },
      { form: 2, judge: 1 },
    ]),
  ]
  const line = summarise(groups)

  it('weigh means by completions, not by groups', () => {
    expect(line['reward']).toBeCloseTo((1 + 0 + 1 + 3 + 3) / 5, 12)
    expect(line['reward/n1']).toBeCloseTo(2 / 3, 12)
    expect(line['reward/n1/form']).toBeCloseTo(0.5, 12)
    expect(line['reward/n3/judge']).toBe(1)
    expect(line).not.toHaveProperty('reward/n2')
  })

  it('count groups without a gradient by reason and node', () => {
    expect(line).toMatchObject({
      'groups/total': 3,
      'groups/no_spread': 1,
      'groups/too_few_scored': 1,
      'groups/n1/dead': 1,
      'groups/n3/dead': 1,
    })
    expect(line['frac_reward_zero_std']).toBeCloseTo(1 / 3, 12)
  })

  it('take the mean of group deviations, not the deviation of the batch', () => {
    expect(line['reward_std']).toBeCloseTo((Math.SQRT1_2 + 0) / 2, 12)
  })

  it('describe completions', () => {
    expect(line).toMatchObject({
      'completions/mean_length': (1 + 2 + 3 + 1 + 1 + 2) / 6,
      'completions/max_length': 3,
      'completions/clipped_ratio': 0.5,
      'completions/unscored': 1,
      'judge/cached': 5,
      'judge/calls': 0,
    })
  })

  it('add up their times, and have null for what was not measured', () => {
    expect(line).toMatchObject({ step_time: 2, 'time/update': 0.5, kl: null, grad_norm: null, num_tokens: 99 })
  })
})

describe('variance shares', () => {
  it('say which component carries the spread within groups, whatever lies between them', () => {
    const shares = varianceShares([
      assessed('a', 'n1', [
        { form: 3, judge: 0.1 },
        { form: 3, judge: 0.9 },
      ]),
      assessed('b', 'n1', [
        { form: 0, judge: 0 },
        { form: 0, judge: 1 },
      ]),
    ])
    expect(shares['judge']).toBeCloseTo(1, 12)
    expect(shares['form']).toBeCloseTo(0, 12)
  })

  it('add up to 1', () => {
    const parts = fc.record({
      a: fc.integer({ min: -5, max: 5 }),
      b: fc.integer({ min: -5, max: 5 }),
      c: fc.integer({ min: -5, max: 5 }),
    })
    fc.assert(
      fc.property(
        fc.array(fc.array(parts, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        (batch) => {
          const shares = Object.values(varianceShares(batch.map((scores, i) => assessed(`p${i}`, 'n2', scores))))
          const sum = shares.reduce((total, share) => total + share, 0)
          expect(shares.length === 0 || Math.abs(sum - 1) < 1e-9).toBe(true)
        },
      ),
    )
  })
})
