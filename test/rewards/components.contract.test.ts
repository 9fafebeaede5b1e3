import { assert, constantFrom, double, oneof, property, record, string, type Arbitrary } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../data/records/node.ts'
import type { Outcome } from '../../rewards/define-reward.ts'
import { gatherEvidence, profiles, type Evidence } from '../../rewards/evidence.ts'
import { rewardNames, rewardRegistry } from '../../rewards/registry.generated.ts'
import { samplePrompts } from '../judge/samples.ts'
import { structuralCases } from './adversarial.ts'

const anyCompletion = oneof(
  string({ unit: 'binary' }),
  constantFrom(...structuralCases.map((example) => example.completion)),
  string({ unit: 'binary' }).map(
    (text) => `<reasoning>\n${text}\n</reasoning>\n<answer>\n{"step": "${text}"}\n</answer>`,
  ),
)

const anyEvidence: Arbitrary<Evidence> = record({
  profile: constantFrom(...profiles),
  node: constantFrom(...nodeIds),
  text: anyCompletion,
  score: double({ min: 0, max: 1, noNaN: true }),
}).map(({ profile, node, text, score }) =>
  gatherEvidence(profile, samplePrompts[node].facts, text, {
    kind: 'verdict',
    verdict: { score, reason: 'given', model: 'test', cached: false, latencyMs: 0 },
  }),
)

const isLegal = (outcome: Outcome, [min, max]: readonly [number, number]): boolean =>
  'abstained' in outcome ? outcome.abstained !== '' : outcome.raw >= min && outcome.raw <= max

describe.each(rewardNames)('%s', (fileName) => {
  const component = rewardRegistry[fileName]

  it('is named after its file, described, and has a maximum', () => {
    expect(component.name).toBe(fileName)
    expect(component.description).not.toBe('')
    expect(component.maximum).toBeGreaterThan(0)
    expect(component.range[1]).toBe(1)
  })

  it('is total, deterministic and inside its range', () => {
    const score = component.configure({})
    assert(
      property(anyEvidence, (evidence) => {
        const outcome = score(Object.freeze(evidence))
        expect(score(evidence)).toStrictEqual(outcome)
        expect(outcome).toSatisfy((value: Outcome) => isLegal(value, component.range))
      }),
    )
  })

  it('refuses caps that it does not know', () => {
    expect(() => component.configure({ misspelt: 1 })).toThrow(/misspelt/u)
  })
})
