import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import { buildPool, type TrajectorySource } from '../../../data/pool/build.ts'
import { openPool } from '../../../data/pool/open.ts'
import { readPool } from '../../../data/pool/pool-file.ts'
import { nodeContracts } from '../../../data/records/node.ts'
import type { Prompt } from '../../../data/records/prompt.ts'
import { testSource } from './trajectories.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const path = join(temporaryDirectory(), 'pool.jsonl')

const read = async (...lines: string[]): Promise<Prompt[]> => {
  writeFileSync(path, lines.join('\n'))
  const prompts: Prompt[] = []
  for await (const prompt of readPool(path)) prompts.push(prompt)
  return prompts
}
const fault = async (...lines: string[]): Promise<PipelineError> => {
  const error: unknown = await read(...lines).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof PipelineError)) throw new Error(`no pool error but ${String(error)}`)
  expect(error.boundary).toBe('pool')
  expect(error.remedy).toBeTruthy()
  return error
}

const own = {
  node: 'search_api',
  messages: [
    { role: 'system', content: 'You name apps.' },
    { role: 'user', content: 'mail.send(to=ana)' },
  ],
  facts: { writes: ['mail.send(to=ana)'] },
  target: { apps: ['mail'] },
}
const line = (more: Record<string, unknown> = {}): string => JSON.stringify({ ...own, ...more })
const [built] = buildPool(testSource, {
  train: 5,
  heldout: 5,
  seed: 1,
  mistakeShare: 0,
  hideShare: 0,
  examples: 0,
}).prompts
const whole = JSON.stringify(built)

describe("a user's own prompt", () => {
  test('needs node, messages and facts; the rest follows', async () => {
    const prompts = await read(line({ target: undefined }))
    expect(prompts[0]).toMatchObject({ node: 'n3', facts: { node: 'n3' }, target: null, split: 'train' })
    expect(prompts[0]?.id).toMatch(/^[0-9a-f]{16}$/)
  })

  test('may name its node by id or by tag', async () => {
    const [byTag, byId] = [await read(line()), await read(line({ node: 'n3' }))]
    expect(byTag).toEqual(byId)
    expect(byTag[0]?.target).toEqual({ node: 'n3', apps: ['mail'] })
    expect(nodeContracts.n3.tag).toBe('search_api')
  })

  test('may be held out', async () => {
    expect((await read(line({ split: 'heldout' })))[0]?.split).toBe('heldout')
  })
})

test('equal prompts are one prompt', async () => {
  const prompts = await read(line(), '', line(), whole, whole)
  expect(prompts).toHaveLength(2)
})

describe('a fault names file, line, field and value', () => {
  test.each([
    ['an unknown node', line({ node: 'n6' }), ['node', '"n6"']],
    ['a missing node', line({ node: undefined }), ['node', 'missing']],
    ['a missing field', line({ facts: undefined }), ['facts', 'missing']],
    ['a missing inner field', line({ facts: {} }), ['facts.writes', 'missing']],
    ['a wrong value', line({ facts: { writes: [7] } }), ['facts.writes.0', '7']],
    ['facts of another node', line({ facts: { node: 'n4', writes: [] } }), ['facts.node', 'n4']],
    ['a target of another node', line({ target: { node: 'n1', step: 1, isAligned: 'Y' } }), ['target.node', 'n1']],
    ['a split that does not exist', line({ split: 'test' }), ['split', '"test"']],
    ['a missing system message', line({ messages: own.messages.toReversed() }), ['messages', 'user, system']],
    ['an id that does not fit', line({ id: '0123456789abcdef' }), ['id', '0123456789abcdef']],
    ['a field that does not exist', line({ colour: 'red' }), ['colour']],
    ['a truncated line', whole.slice(0, 200), ['truncated', '{']],
    ['something else than an object', '[1]', ['object', '[1]']],
  ])('%s', async (_, faulty, parts) => {
    const error = await fault(whole, faulty)
    const text = `${error.message} ${error.remedy}`
    for (const part of [`${path}:2`, ...parts]) expect(text).toContain(part)
  })

  test('a missing file', async () => {
    const reading = async () => {
      for await (const prompt of readPool('/nowhere/pool.jsonl')) expect(prompt).toBeDefined()
    }
    await expect(reading).rejects.toThrow('/nowhere/pool.jsonl')
  })
})

describe('opening what a config asks for', () => {
  test('reads a file and parts it by split', async () => {
    await read(line(), line({ split: 'heldout', messages: [own.messages[0], { role: 'user', content: 'other' }] }))
    const { train, heldout } = await openPool({ kind: 'file', path }, 0)
    expect([train.length, heldout.length]).toEqual([1, 1])
  })

  test('refuses a file without training prompts', async () => {
    await read(line({ split: 'heldout' }))
    await expect(openPool({ kind: 'file', path }, 0)).rejects.toThrow('no training prompts')
  })

  test('builds from the simulated world', async () => {
    const config = { kind: 'world', train: 25, heldout: 10, seed: 1, mistakeShare: 0.1, hideShare: 0.3 } as const
    const { train, heldout, warnings } = await openPool(config, 0)
    expect([train.length, heldout.length]).toEqual([25, 10])
    expect(warnings).toEqual([])
  })

  test('says how far a pool falls short of what the config asks for', async () => {
    const config = { kind: 'world', train: 25, heldout: 10, seed: 1, mistakeShare: 0, hideShare: 0 } as const
    // Always the same two trajectories: they run out of different prompts.
    const poor: TrajectorySource = ({ split }) => testSource({ seed: 1, count: 2, split })
    const { train, warnings } = await openPool(config, 0, { source: poor })
    expect(train.length).toBeLessThan(25)
    expect(warnings[0]).toMatch(
      new RegExp(
        `^the pool is ${25 - train.length} training prompts short of what was asked for: n1 classify_drift \\d`,
      ),
    )
    expect(warnings[1]).toMatch(/held-out prompts short/)
  })
})
