import { describe, expect, it } from 'vitest'
import { RewardBreakdown, type RewardBreakdown as Breakdown } from '../../data/records/reward.ts'
import type { NodeId } from '../../data/records/node.ts'
import { createComposite } from '../../rewards/composite.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { gatherEvidence } from '../../rewards/evidence.ts'
import { rewardNames, rewardRegistry } from '../../rewards/registry.generated.ts'
import { complete, goldCompletions, samplePrompts } from '../judge/samples.ts'

const composite = createComposite(RewardsConfig.parse({}), false)

const score = (node: NodeId, text: string): Breakdown['components'] =>
  RewardBreakdown.parse(composite.score(gatherEvidence('paper', samplePrompts[node].facts, text))).components

const sanityOf = (answer: string): number | undefined =>
  score('n1', complete('Some words of reasoning.', answer))['json_sanity']?.weighted

/** Each of these mistakes has been made by a reward function in the wild. */
describe('known traps of format rewards', () => {
  it('reasoning of several lines is still an envelope', () => {
    const text = complete('First this.\nThen that.\n\nSo drift.', { step: 7, is_aligned: 'N', why: 'a payment' })
    expect(score('n1', text)).toMatchObject({
      strict_format: { raw: 1 },
      soft_format: { raw: 1 },
      reasoning_length: { raw: 1 },
    })
  })

  it('a duplicate closing tag is no envelope, for any component', () => {
    const scores = score('n1', `${goldCompletions.n1}\n</answer>`)
    const paid = Object.keys(scores).filter((name) => scores[name]?.raw !== 0)
    expect(paid).toStrictEqual(['xml_count'])
  })

  it('an end-of-turn token left in the text would cost strict format', () => {
    // The text that is scored comes without it; the rule itself forgives nothing.
    expect(score('n1', `${goldCompletions.n1}<|im_end|>`)['strict_format']?.raw).toBe(0)
    expect(score('n1', goldCompletions.n1)['strict_format']?.raw).toBe(1)
  })

  it('trailing text costs once', () => {
    const clean = score('n1', goldCompletions.n1)
    const trailing = score('n1', `x${goldCompletions.n1}\n${'y'.repeat(100)}`)
    const front = score('n1', `x${goldCompletions.n1}`)
    const lost = Object.keys(clean).filter(
      (name) => (trailing[name]?.weighted ?? 0) < (front[name]?.weighted ?? 0) - 1e-12,
    )
    expect(lost).toStrictEqual(['xml_count'])
    expect(trailing['xml_count']?.weighted).toBeCloseTo(0.4, 12)
  })

  it('the last of two equal keys does not win', () => {
    expect(
      score('n1', complete('Some words here.', '{"step":7,"is_aligned":"Y","why":"x","is_aligned":"N"}')),
    ).toMatchObject({
      json_valid: { raw: 0 },
      json_schema: { raw: 0 },
      json_sanity: { raw: 0 },
    })
  })

  it('inherited names are no keys', () => {
    expect(score('n1', complete('Some words here.', '{"x": 1}'))['json_schema']?.raw).toBe(0)
    expect(sanityOf('{"__proto__": {"step": 7, "is_aligned": "Y", "why": "x"}}')).toBe(0)
  })

  it.each(['"0x10"', '""', 'null', 'true', '[]', '[7]', '7.0', '7e0', '"7.0"', '" "', '{}'])(
    'a step of %s is no integer',
    (step) => {
      expect(sanityOf(`{"step": ${step}, "is_aligned": "N", "why": "a payment"}`)).toBeCloseTo(0.4, 12)
    },
  )

  it('each completion has a breakdown of its own', () => {
    const totals = ['', goldCompletions.n1].map((text) =>
      composite.score(gatherEvidence('paper', samplePrompts.n1.facts, text)),
    )
    expect(totals[0]).toMatchObject({ total: 0 })
    expect(totals[1]).not.toMatchObject({ total: 0 })
  })

  it('no component is missing from the sum and no two share a name', () => {
    const names = Object.values(rewardRegistry).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(Object.keys(score('n1', ''))).toStrictEqual(rewardNames.filter((name) => name !== 'judge'))
  })
})
