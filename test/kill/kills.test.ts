import { join } from 'node:path'
import process from 'node:process'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import type { Kill } from './chain.ts'
import { attached, Fleet, makeWorkplace } from './fleet.ts'
import { at } from './points.ts'
import { killing, trainThrough, writePool, type Outcome } from './through.ts'

const model = join(packageRoot(), 'data/tiny-base')

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_800_000 })

/** Each phase of a step before, in and after its exchange, split into runs: each goes through all of its deaths. */
const grid: Readonly<Record<string, { readonly kills: readonly Kill[]; readonly starts: number | null }>> = {
  'the orchestrator, up to the first update': {
    kills: killing('orchestrator', [
      ...[at.info, at.tokenizing, at.opening('reply'), at.proving('request', 0)],
      ...[at.sampling('request', 0), at.sampling('reply', 0), at.scoring('request'), at.scoring('reply')],
    ]),
    starts: 9,
  },
  'the orchestrator, from an update to the end of its step': {
    kills: killing('orchestrator', [
      ...[at.updating('request', 0), at.updating('sent', 0), at.updating('reply', 0)],
      ...[at.saving('request', 1), at.saving('sent', 1), at.saving('reply', 1), at.loading('request', 1)],
      ...[at.loading('reply', 1), at.proving('reply', 1), at.metrics(0)],
    ]),
    starts: 11,
  },
  'the orchestrator, around a checkpoint': {
    kills: killing('orchestrator', [
      ...[at.checkpointing('request', 2), at.checkpointing('sent', 2), at.checkpointing('reply', 2), at.checkpoint(2)],
      ...[at.restoring('request'), at.restoring('reply'), at.sampling('sent', 2), at.updating('sent', 3)],
    ]),
    starts: 9,
  },
  'the orchestrator, to the end': {
    kills: killing('orchestrator', [
      ...[at.unloading('request', 2), at.checkpointing('reply', 4)],
      ...[at.evaluating('request', 0), at.evaluating('reply', 4), at.evaluation],
    ]),
    starts: 6,
  },
  'the worker': {
    kills: killing('worker', [
      ...[at.updating('request', 0), at.updating('sent', 0), at.updating('reply', 0)],
      ...[at.sampling('request', 1), at.saving('sent', 2), at.checkpointing('sent', 2)],
    ]),
    starts: null,
  },
  'the worker, after a checkpoint': {
    kills: killing('worker', [at.loading('request', 3), at.restoring('reply')]),
    starts: 3,
  },
  // It is waited for, unless it is lost in a check of its own.
  'the sampler': {
    kills: killing('sampler', [
      ...[at.sampling('request', 0), at.sampling('sent', 0), at.loading('sent', 1), at.proving('reply', 1)],
      ...[at.sampling('reply', 1), at.unloading('request', 1), at.evaluating('sent', 4)],
    ]),
    starts: null,
  },
  'the judge': { kills: killing('judge', [at.scoring('request'), at.scoring('sent'), at.scoring('reply')]), starts: 1 },
}

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
