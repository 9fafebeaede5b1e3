import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCheckpoint, saveCheckpoint, workerState, type LoopState } from '../../trainer/checkpoint.ts'
import type { Learner } from '../../trainer/learner.ts'
import { findStartingPoint, requireSame, rewind } from '../../trainer/resume.ts'
import { createRunDirectory, nextRunId, openRunDirectory, RunDirectory } from '../../trainer/run-directory.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const at = (nextStep: number, policyVersion = nextStep): LoopState => ({
  runId: 'r',
  nextStep,
  policyVersion,
  policyName: `p${policyVersion}`,
  adapter: `v${policyVersion}`,
  totalTokens: 7,
})

/** The half of a learner that checkpoints use: writes one file where the worker would write its state. */
const stateWriter = (checkpoints: string): Learner =>
  ({
    saveState: async (location: string) => {
      mkdirSync(join(checkpoints, location))
      writeFileSync(join(checkpoints, location, 'session.json'), '{}')
    },
  }) as unknown as Learner

const write = (path: string, text: string): void => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

describe('checkpoints', () => {
  it('are found newest first, and pruned', async () => {
    const directory = temporaryDirectory()
    for (const step of [2, 4, 6]) await saveCheckpoint(directory, stateWriter(directory), at(step), 2)
    expect(readdirSync(directory).toSorted()).toEqual(['step-000004', 'step-000006'])
    expect(await findCheckpoint(directory)).toEqual(at(6))
    expect(existsSync(join(directory, workerState(at(6)), 'session.json'))).toBe(true)
  })

  it('that a dying process left torn are passed over, and made anew', async () => {
    const directory = temporaryDirectory()
    await saveCheckpoint(directory, stateWriter(directory), at(2), 2)
    write(join(directory, 'step-000004/worker/session.json'), '{')
    write(join(directory, 'step-000006/loop.json'), '{"runId":"r","nextS')
    expect(await findCheckpoint(directory)).toEqual(at(2))
    await saveCheckpoint(directory, stateWriter(directory), at(4), 9)
    expect(await findCheckpoint(directory)).toEqual(at(4))
  })

  it('are none where nothing was saved', async () => {
    expect(await findCheckpoint(join(temporaryDirectory(), 'missing'))).toBeNull()
  })

  it('are not made twice of the same step', async () => {
    const directory = temporaryDirectory()
    await saveCheckpoint(directory, stateWriter(directory), at(2), 2)
    const untouchable = { saveState: () => Promise.reject(new Error('must not be asked')) } as unknown as Learner
    await saveCheckpoint(directory, untouchable, at(2), 2)
    expect(await findCheckpoint(directory)).toEqual(at(2))
  })
})

describe('rewinding', () => {
  const filled = (): RunDirectory => {
    const run = new RunDirectory(temporaryDirectory(), 'run')
    write(
      run.metrics,
      `${[0, 1, 2, 3, 4].map((step) => JSON.stringify({ step, attempt: 1 })).join('\n')}\n{"step":5,"att`,
    )
    for (const step of [0, 1, 2, 3]) {
      write(run.rollouts(step), '{}\n')
      write(run.update(step), '{}\n')
      write(join(run.adapters, `v00000${step + 1}`, 'x'), '')
    }
    write(join(run.adapters, '.v000005.77.tmp', 'x'), '')
    write(join(run.checkpoints, 'step-000002/loop.json'), JSON.stringify(at(2)))
    write(join(run.checkpoints, 'step-000004/worker/x'), '')
    return run
  }
  const content = (run: RunDirectory): unknown => ({
    metrics: readFileSync(run.metrics, 'utf8'),
    rollouts: readdirSync(run.at('rollouts')).toSorted(),
    updates: readdirSync(run.at('updates')).toSorted(),
    adapters: readdirSync(run.adapters).toSorted(),
    checkpoints: readdirSync(run.checkpoints),
  })

  it('leaves exactly what belongs to steps before the checkpoint, however often it is done', async () => {
    const run = filled()
    await rewind(run, at(2))
    const once = content(run)
    expect(once).toEqual({
      metrics: '{"step":0,"attempt":1}\n{"step":1,"attempt":1}\n',
      rollouts: ['step-000000.jsonl', 'step-000001.jsonl'],
      updates: ['step-000000.json', 'step-000001.json'],
      adapters: ['v000001', 'v000002'],
      checkpoints: ['step-000002'],
    })
    await rewind(run, at(2))
    expect(content(run)).toEqual(once)
  })

  it('goes back to nothing when no checkpoint was made yet', async () => {
    const run = filled()
    await rewind(run, null)
    expect(content(run)).toEqual({ metrics: '', rollouts: [], updates: [], adapters: [], checkpoints: [] })
  })

  it('counts attempts by those that began', async () => {
    const run = await createRunDirectory(temporaryDirectory(), 'r')
    expect(await findStartingPoint(run)).toEqual({ attempt: 1, checkpoint: null })
    await run.appendAttempt({
      attempt: 1,
      at: new Date().toISOString(),
      fromStep: 0,
      fromVersion: 0,
      pid: 1,
      host: 'h',
      worker: {},
    })
    expect(await findStartingPoint(run)).toEqual({ attempt: 2, checkpoint: null })
  })
})

describe('what a continued run is made from', () => {
  const meta = {
    id: 'r',
    createdAt: '',
    seed: 1,
    versions: {},
    model: { path: 'm', hash: 'mh', architecture: '', parameters: 1, dtype: '', device: '' },
    pool: { hash: 'ph', train: 1, heldout: 1, refused: [] },
    judge: 'reference',
    rewardMaximum: 5.6,
  }

  it('must be what it was started from', () => {
    const same = { seed: 1, judge: 'reference', modelHash: 'mh', poolHash: 'ph' }
    expect(() => requireSame(meta, same)).not.toThrow()
    expect(() => requireSame(meta, { ...same, seed: 2, poolHash: 'x' })).toThrow(
      /run\.seed \(1 then, 2 now\), the pool \(ph then, x now\)/,
    )
    expect(() => requireSame(meta, { modelHash: 'other' })).toThrow(/the base model/)
  })
})

describe('run directories', () => {
  it('are numbered within a day and never shared', async () => {
    const runs = temporaryDirectory()
    const day = new Date('2026-03-04T05:06:07Z')
    expect(await nextRunId(runs, 'granite-2b.yaml', day)).toBe('granite-2b-2026-03-04-1')
    const first = await createRunDirectory(runs, 'granite-2b-2026-03-04-1')
    await first.writeSources({ configText: null, values: {}, provenance: {}, pool: [] })
    expect(await nextRunId(runs, 'granite-2b.yaml', day)).toBe('granite-2b-2026-03-04-2')
    await expect(createRunDirectory(runs, 'granite-2b-2026-03-04-1')).rejects.toMatchObject({
      boundary: 'config',
      remedy: expect.stringContaining('--resume') as string,
    })
  })

  it('that do not exist are an error that names those that do', async () => {
    const runs = temporaryDirectory()
    await createRunDirectory(runs, 'here')
    await expect(openRunDirectory(runs, 'gone')).rejects.toMatchObject({ remedy: 'The newest runs there: here.' })
  })
})
