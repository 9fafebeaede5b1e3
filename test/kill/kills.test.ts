import { join } from 'node:path'
import process from 'node:process'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import type { Kill } from './chain.ts'
import { attached, Fleet, makeWorkplace } from './fleet.ts'
import { grid } from './grid.ts'
import { trainThrough, writePool, type Outcome } from './through.ts'

const model = join(packageRoot(), 'data/tiny-base')

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_800_000 })

describe.skipIf(process.platform !== 'linux')('a run of a stub model, when there dies', () => {
  const pool = writePool()
  let reference: Outcome

  const through = async (kills: readonly Kill[]): Promise<Outcome> => {
    const fleet = await Fleet.start(null)
    try {
      const cwd = makeWorkplace(fleet, model, pool, attached(fleet))
      return await trainThrough({ fleet, run: 'run', spawns: false, cwd }, kills)
    } finally {
      await fleet.close()
    }
  }
  beforeAll(async () => {
    reference = await through([])
  })

  it('nobody: it has something to lose', () => {
    expect(reference.traces).toMatchObject({ state: 'finished', steps: [0, 1, 2, 3], locked: false })
  })

  it.each(Object.entries(grid))('%s: nothing is lost, made twice or left behind', async (_, { kills, starts }) => {
    const outcome = await through(kills)
    expect(outcome.traces).toEqual(reference.traces)
    expect([null, outcome.starts]).toContain(starts)
  })
})
