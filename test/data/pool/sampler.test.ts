import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bindPool } from '../../../data/pool/bind.ts'
import { buildPool } from '../../../data/pool/build.ts'
import { promptsOfStep, stepsPerEpoch } from '../../../data/pool/sampler.ts'
import { nodeIds } from '../../../data/records/node.ts'
import { testSource } from './trajectories.ts'

const pools = fc
  .array(fc.constantFrom(...nodeIds), { minLength: 1, maxLength: 90 })
  .map((nodes) => nodes.map((node, i) => ({ id: `p${i}`, node })))
const request = { seed: fc.nat(), promptsPerStep: fc.integer({ min: 1, max: 20 }) }

const epochOf = (
  pool: { id: string; node: (typeof nodeIds)[number] }[],
  epoch: number,
  seed: number,
  promptsPerStep: number,
) => {
  const steps = stepsPerEpoch(pool.length, promptsPerStep)
  return Array.from({ length: steps }, (_, i) => promptsOfStep(pool, { seed, step: epoch * steps + i, promptsPerStep }))
}

describe('the sampler', () => {
  test('gives each prompt exactly once an epoch, in steps of equal size or one less', () => {
    fc.assert(
      fc.property(pools, request.seed, request.promptsPerStep, fc.nat(3), (pool, seed, promptsPerStep, epoch) => {
        const steps = epochOf(pool, epoch, seed, promptsPerStep)
        expect(
          steps
            .flat()
            .map(({ id }) => id)
            .toSorted(),
        ).toEqual(pool.map(({ id }) => id).toSorted())
        const sizes = steps.map((step) => step.length)
        expect(Math.max(...sizes)).toBeLessThanOrEqual(promptsPerStep)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('depends on seed and step, not on the order of the pool', () => {
    fc.assert(
      fc.property(pools, request.seed, request.promptsPerStep, fc.nat(50), (pool, seed, promptsPerStep, step) => {
        const given = promptsOfStep(pool, { seed, step, promptsPerStep })
        expect(promptsOfStep(pool.toReversed(), { seed, step, promptsPerStep })).toEqual(given)
      }),
    )
  })

  test('keeps each step close to the shares of the nodes', () => {
    fc.assert(
      fc.property(pools, request.seed, request.promptsPerStep, (pool, seed, promptsPerStep) => {
        for (const step of epochOf(pool, 0, seed, promptsPerStep)) {
          for (const node of nodeIds) {
            const fair = (pool.filter((prompt) => prompt.node === node).length / pool.length) * step.length
            expect(Math.abs(step.filter((prompt) => prompt.node === node).length - fair)).toBeLessThanOrEqual(5)
          }
        }
      }),
    )
  })

  test('holds every node in every step of a balanced pool', () => {
    const pool = Array.from({ length: 1000 }, (_, i) => ({ id: `p${i}`, node: nodeIds[i % 5] ?? 'n1' }))
    for (const step of epochOf(pool, 0, 7, 10)) {
      expect(step).toHaveLength(10)
      for (const node of nodeIds) {
        const count = step.filter((prompt) => prompt.node === node).length
        expect(count).toBeGreaterThanOrEqual(1)
        expect(count).toBeLessThanOrEqual(3)
      }
    }
  })

  test('gives another order in another epoch and with another seed', () => {
    const pool = Array.from({ length: 100 }, (_, i) => ({ id: `p${i}`, node: nodeIds[i % 5] ?? 'n1' }))
    const order = (epoch: number, seed: number) => epochOf(pool, epoch, seed, 10).flat()
    expect(order(1, 1)).not.toEqual(order(0, 1))
    expect(order(0, 2)).not.toEqual(order(0, 1))
  })

  test('refuses an empty pool and a step that cannot be', () => {
    expect(() => promptsOfStep([], { seed: 0, step: 0, promptsPerStep: 1 })).toThrow('no training prompts')
    expect(() => promptsOfStep([{ id: 'a', node: 'n1' }], { seed: 0, step: -1, promptsPerStep: 1 })).toThrow(RangeError)
  })
})

describe('binding a pool to a model', () => {
  const { prompts } = buildPool(testSource, {
    train: 10,
    heldout: 5,
    seed: 1,
    mistakeShare: 0,
    hideShare: 0,
    examples: 0,
  })
  const lengths = new Map(prompts.map(({ id }, i) => [id, 100 + i]))

  test('refuses what is over the limit, longest first, and keeps the rest', () => {
    const { kept, refused } = bindPool(prompts, lengths, 111)
    expect(kept).toEqual(prompts.slice(0, 12))
    expect(refused.map(({ tokens }) => tokens)).toEqual([114, 113, 112])
    expect(refused[0]?.id).toBe(prompts[14]?.id)
  })

  test('does not guess the length of a prompt', () => {
    expect(() => bindPool(prompts, new Map(), 100)).toThrow('no token count')
  })
})
