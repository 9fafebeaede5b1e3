import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { mayLack } from '../support/require.ts'
import { python } from '../support/tiny-training.ts'
import type { Kill } from './chain.ts'
import { attached, Fleet, makeWorkplace, spawned } from './fleet.ts'
import { grid } from './grid.ts'
import { at } from './points.ts'
import { killing, trainThrough, writePool, type Outcome } from './through.ts'

const model = join(packageRoot(), 'data/tiny-base')
const notReady = mayLack([python, join(model, 'config.json')])
/** Every point with the real worker takes some minutes: not part of every test run. */
const isAsked = process.env['DRIFT_GRPO_KILL'] === '1'

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_800_000 })

/** One death in each phase of a step: whoever is at work there, or who waits for it. */
const everyPhase: readonly Kill[] = [
  ...killing('sampler', [at.sampling('sent', 0)]),
  ...killing('judge', [at.scoring('sent')]),
  ...killing('orchestrator', [at.updating('request', 0), at.updating('sent', 0), at.updating('reply', 0)]),
  ...killing('orchestrator', [at.saving('sent', 1), at.loading('sent', 2), at.checkpointing('sent', 2)]),
  ...killing('worker', [at.updating('sent', 3)]),
  ...killing('sampler', [at.evaluating('sent', 4)]),
]

describe.skipIf(notReady || process.platform !== 'linux')(
  'a run of the toy base (skipped without .venv and data/tiny-base)',
  () => {
    const pool = writePool()
    let fleet: Fleet
    let reference: Outcome

    const through = (run: string, kills: readonly Kill[], spawns = false): Promise<Outcome> => {
      const cwd = makeWorkplace(fleet, model, pool, spawns ? spawned : attached(fleet))
      return trainThrough({ fleet, run, spawns, cwd }, kills)
    }
    beforeAll(async () => {
      fleet = await Fleet.start(model)
      reference = await through('whole', [])
    })
    afterAll(() => fleet.close())

    it('has bit for bit the same adapter though somebody dies in each phase of a step', async () => {
      await fleet.revive('worker')
      expect((await through('attached', everyPhase)).traces).toEqual(reference.traces)
    })

    describe.skipIf(!isAsked)('at every point (skipped unless DRIFT_GRPO_KILL=1)', () => {
      it.each(Object.entries(grid))('has the same adapter though there dies %s', async (who, { kills, starts }) => {
        await fleet.revive('worker')
        const outcome = await through(who.replaceAll(/\W+/g, '-'), kills)
        expect(outcome.traces).toEqual(reference.traces)
        expect([null, outcome.starts]).toContain(starts)
      })

      it('has the same adapter though it and the workers that it starts die', async () => {
        const outcome = await through(
          'spawned',
          [
            ...killing('orchestrator', [at.rollouts(0)]),
            ...killing('worker', [at.computing(0)]),
            ...killing('orchestrator', [at.halfCheckpoint(2), at.update(3)]),
          ],
          true,
        )
        expect(outcome.traces).toEqual(reference.traces)
        expect(outcome.starts).toBe(5)
      })
    })
  },
)
