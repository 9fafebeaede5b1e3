import { describe, expect, it } from 'vitest'
import { createComposite } from '../../rewards/composite.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { gatherEvidence } from '../../rewards/evidence.ts'
import { samplePrompts } from '../judge/samples.ts'
import { structuralCases } from './adversarial.ts'

const composite = createComposite(RewardsConfig.parse({}), false)

describe('the structural part of the reward', () => {
  it('has a maximum of 4.60', () => {
    expect(composite.maximum).toBeCloseTo(4.6, 12)
    expect(structuralCases.length).toBeGreaterThan(50)
  })

  it.each(structuralCases.map((example) => [example.name, example] as const))('%s', (_, example) => {
    const score = composite.score(gatherEvidence('paper', samplePrompts[example.node].facts, example.completion))
    if (score.kind !== 'scored') throw new Error(score.reason)
    expect(score.total).toBeCloseTo(example.structural, 9)
    const weighted = Object.entries(score.components).map(([name, component]) => [name, component.weighted])
    const expected = Object.entries(example.expected).map(([name, value]) => [name, expect.closeTo(value, 9)])
    expect(Object.fromEntries(weighted)).toStrictEqual(Object.fromEntries(expected))
  })
})
