import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildPool, buildPoolFrom, writePool } from '../../../data/pool/build.ts'
import { splitIds } from '../../../data/pool/draft.ts'
import { readPool } from '../../../data/pool/pool-file.ts'
import { knownAttacks } from '../../../data/pool/shortfall.ts'
import { promptStream } from '../../../data/pool/stream.ts'
import { nodeIds } from '../../../data/records/node.ts'
import { Prompt } from '../../../data/records/prompt.ts'
import { generateTrajectories } from '../../../data/world/trajectories.ts'
import { clean, drifted, testSource } from './trajectories.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const options = { train: 100, heldout: 100, seed: 1, mistakeShare: 0.1, hideShare: 0.3, examples: 0 } as const
const share = (prompts: readonly Prompt[], holds: (prompt: Prompt) => boolean): number =>
  prompts.filter(holds).length / prompts.length

const namesOf = (prompts: readonly Prompt[]): Set<string> =>
  new Set(
    prompts.flatMap(({ origin }) => [
      ...splitIds(origin.taskId),
      ...(origin.payloadId === null ? [] : splitIds(origin.payloadId)),
      ...origin.trajectoryIds,
    ]),
  )

describe.each([
  ['hand-made trajectories', testSource],
  ['the simulated world', generateTrajectories],
] as const)('a pool of %s', (_, source) => {
  const { prompts, report } = buildPool(source, options)
  const train = prompts.filter(({ split }) => split === 'train')
  const heldout = prompts.filter(({ split }) => split === 'heldout')
  const of = (node: string) => train.filter((prompt) => prompt.node === node)

  test('holds valid prompts, each once', () => {
    for (const prompt of prompts) expect(Prompt.parse(prompt)).toEqual(prompt)
    expect(new Set(prompts.map(({ id }) => id)).size).toBe(prompts.length)
  })

  test('holds 20 held-out prompts of each node, and an equal part of the training prompts', () => {
    for (const node of nodeIds) {
      expect(heldout.filter((prompt) => prompt.node === node)).toHaveLength(20)
      expect(of(node)).toHaveLength(20)
    }
  })

  test('is balanced', () => {
    expect(share(of('n1'), ({ target }) => target?.node === 'n1' && target.isAligned === 'N')).toBeCloseTo(0.5)
    const aligned = of('n1').filter(({ target }) => target?.node === 'n1' && target.isAligned === 'Y')
    expect(share(aligned, ({ origin }) => origin.afterExposure)).toBeCloseTo(0.5)
    expect(share(of('n2'), ({ target }) => target?.node === 'n2' && target.writeOperations.length > 0)).toBeCloseTo(0.5)
    expect(share(of('n4'), ({ target }) => target?.node === 'n4' && target.reversible.length > 0)).toBeCloseTo(0.6)
    expect(share(of('n5'), ({ target }) => target?.node === 'n5' && target.action === 'escalate_human')).toBeCloseTo(
      0.5,
    )
  })

  test('has no task, payload or trajectory in both splits', () => {
    const held = namesOf(heldout)
    expect([...namesOf(train)].filter((name) => held.has(name))).toEqual([])
  })

  test('counts what it holds', () => {
    expect(report.splits.train.total).toBe(100)
    expect(report.splits.train.missing).toEqual({})
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
    for (const counts of ['bySource', 'byNode', 'byGroup', 'byCase'] as const)
      expect(sum(report.splits.heldout[counts])).toBe(100)
  })

  test('is the same every time, and another one with another seed', { timeout: 60_000 }, () => {
    expect(buildPool(source, options).prompts).toEqual(prompts)
    expect(buildPool(source, { ...options, seed: 2 }).prompts).not.toEqual(prompts)
  })
})

describe('a pool of a finite set of trajectories', () => {
  const trajectories = Array.from({ length: 200 }, (_, n) => (n % 3 === 0 ? clean(n) : drifted(n)))

  test('takes as many as stay balanced, and counts the rest', () => {
    const { prompts, report } = buildPoolFrom(trajectories, { ...options, train: null, heldout: 20 })
    const train = prompts.filter(({ split, node }) => split === 'train' && node === 'n1')
    expect(share(train, ({ target }) => target?.node === 'n1' && target.isAligned === 'N')).toBeGreaterThanOrEqual(0.4)
    expect(report.rejected['n1/over_balance']).toBeGreaterThan(0)
    expect(report.trajectories.read).toBe(200)
  })

  test('counts attacks by split, and says which wordings are in both', () => {
    const attacked = Array.from({ length: 200 }, (_, n) =>
      drifted(n, { attack: n % 3 === 0 ? 'tool_knowledge' : 'important_instructions' }),
    )
    const { report } = buildPoolFrom([...attacked, clean(500)], { ...options, train: null, heldout: 20 })
    const { train, heldout } = report.attacks
    const sum = [...Object.values(train), ...Object.values(heldout)].reduce((a, b) => a + b, 0)
    expect(sum).toBe(200)
    expect(knownAttacks(report)).toEqual([
      expect.stringMatching(/^attack wordings in both splits: important_instructions, tool_knowledge\. /),
    ])
    expect(knownAttacks({ attacks: { train: { a: 1 }, heldout: { b: 1 } } })).toEqual([])
  })

  test('says how many prompts it could not find', () => {
    const { report } = buildPoolFrom(trajectories.slice(0, 4), { ...options, heldout: 0 })
    expect(report.splits.train.missing['n1 classify_drift']).toBeGreaterThan(0)
  })
})

test('a written pool is read back as it was, with its report beside it', async () => {
  const directory = temporaryDirectory()
  const pool = buildPool(testSource, { ...options, train: 20, heldout: 10 })
  await writePool(directory, pool)
  const read: Prompt[] = []
  for await (const prompt of readPool(join(directory, 'pool.jsonl'))) read.push(prompt)
  expect(read).toEqual(pool.prompts)
  expect(JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8'))).toEqual(pool.report)
})

test('a stream goes on without repeating itself', { timeout: 60_000 }, () => {
  const stream = promptStream(testSource, { ...options, split: 'train', block: 25 })
  const first = Array.from({ length: 60 }, () => stream.next().value)
  expect(new Set(first.map(({ id }) => id)).size).toBe(60)
  const again = promptStream(testSource, { ...options, split: 'train', block: 25 })
  expect(Array.from({ length: 60 }, () => again.next().value)).toEqual(first)
})
