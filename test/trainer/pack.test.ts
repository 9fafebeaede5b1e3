import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UpdateBatch } from '../../data/records/update.ts'
import { groupAdvantages } from '../../trainer/advantage.ts'
import { GrpoSection } from '../../trainer/config.ts'
import { lossConfig, packBatch } from '../../trainer/pack.ts'
import { promptSeed } from '../../trainer/seed.ts'
import { assessed } from '../support/assessed.ts'

const loss = lossConfig(GrpoSection.parse(undefined), { maxCompletionTokens: 77 })
const header = { runId: 'r', step: 4, fromVersion: 3, tokenBudget: 100, loss }
const pack = (scores: Record<string, readonly (Record<string, number> | null)[]>) => {
  const groups = Object.entries(scores).map(([id, parts]) => assessed(id, 'n1', parts))
  const scored = groups.map(({ group, assessments }) => ({
    promptId: group.promptId,
    node: group.node,
    scores: assessments.map(({ score }) => score),
  }))
  return packBatch(
    header,
    groups.map(({ group }) => group),
    groupAdvantages(scored, { scale: 'group', stdFloor: 0, perComponent: false }),
  )
}

describe('packing', () => {
  it('leaves out skipped groups and unscored completions, and keeps the rest in order', () => {
    const batch = UpdateBatch.parse(pack({ dead: [{ a: 1 }, { a: 1 }], live: [{ a: 0 }, null, { a: 1 }] }))
    expect(batch.groups).toHaveLength(1)
    expect(batch.groups[0]?.completions.map(({ tokenIds }) => tokenIds.length)).toEqual([1, 3])
    expect(batch.groups[0]?.completions.map(({ advantage }) => Math.sign(advantage))).toEqual([-1, 1])
  })

  it('gives nothing when there is nothing to learn from', () => {
    expect(pack({ a: [{ a: 1 }, { a: 1 }], b: [null, { a: 2 }] })).toBeNull()
  })

  it('uses the completion limit as divisor unless one is given', () => {
    expect(loss.fixedLength).toBe(77)
    expect(lossConfig(GrpoSection.parse({ fixedLength: 5 }), { maxCompletionTokens: 77 }).fixedLength).toBe(5)
  })

  it('refuses advantages that belong to another group', () => {
    const [a, b] = [assessed('a', 'n1', [{ x: 1 }, { x: 2 }]), assessed('b', 'n1', [{ x: 1 }, { x: 2 }])]
    const advantages = groupAdvantages(
      [{ promptId: 'b', node: 'n1', scores: b.assessments.map(({ score }) => score) }],
      { scale: 'none', stdFloor: 0, perComponent: false },
    )
    expect(() => packBatch(header, [a.group], advantages)).toThrow(/advantages of b at the place of group a/)
  })
})

describe('prompt seeds', () => {
  it('depend on run, stage and prompt alone, fit 31 bits, and leave room for the children of a request', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.string(), (run, step, id) => {
        const seed = promptSeed(run, step, id)
        expect(seed).toBe(promptSeed(run, step, id))
        expect(seed % 256 === 0 && seed >= 0 && seed < 2 ** 31).toBe(true)
      }),
    )
    const seeds = new Set(Array.from({ length: 500 }, (_, i) => promptSeed(0, Math.floor(i / 10), `p${i % 10}`)))
    expect(seeds.size).toBeGreaterThan(495)
    expect(promptSeed(0, 1, 'p')).not.toBe(promptSeed(1, 1, 'p'))
    expect(promptSeed(0, 'eval/final', 'p')).not.toBe(promptSeed(0, 0, 'p'))
  })
})
