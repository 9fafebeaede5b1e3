import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../configs/load.ts'
import { packageRoot } from '../../data/package-root.ts'
import { findRun, loadRunConfig } from '../../scripts/run-config.ts'
import { listRuns, readRun } from '../../scripts/run-list.ts'

let runs = ''
beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'drift-grpo-runs-'))
})

/** No process has this number: it is above what the system gives out. */
const deadPid = 2 ** 30

const addRun = async (id: string, status: object = {}): Promise<string> => {
  const directory = join(runs, id)
  mkdirSync(directory, { recursive: true })
  const whole = {
    ...{ state: 'running', step: 3, steps: 9, policyVersion: 3, adapter: null, attempt: 1, pid: process.pid },
    ...{ updatedAt: '2026-01-01T00:00:00.000Z', message: null, ...status },
  }
  writeFileSync(join(directory, 'status.json'), JSON.stringify(whole))
  const { config, provenance } = await loadConfig({ name: 'tiny.yaml', sets: ['run.steps=9'], cwd: packageRoot() })
  writeFileSync(join(directory, 'config.resolved.json'), JSON.stringify({ values: config, provenance }))
  return directory
}

const metrics = (step: number, attempt: number, reward: number | null): string =>
  `${JSON.stringify({ step, attempt, at: '2026-01-01T00:00:00Z', from_version: step, policy_version: step + 1, reward })}\n`

describe('the list of runs', () => {
  it('has the latest first, and passes over what is no run', async () => {
    await addRun('older')
    await addRun('newer', { updatedAt: '2026-02-01T00:00:00.000Z' })
    mkdirSync(join(runs, 'not-a-run'))
    writeFileSync(join(runs, 'a-file'), '')
    expect((await listRuns(runs)).map(({ id }) => id)).toStrictEqual(['newer', 'older'])
  })

  it('is empty where there is no directory', async () => {
    expect(await listRuns(join(runs, 'nowhere'))).toStrictEqual([])
  })

  it('calls a run lost that says it runs while its process is gone', async () => {
    await addRun('gone', { pid: deadPid })
    await addRun('ended', { pid: deadPid, state: 'finished' })
    expect((await readRun(runs, 'gone'))?.state).toBe('lost')
    expect((await readRun(runs, 'ended'))?.state).toBe('finished')
  })

  it('shows the first and the last reward, the later attempt of a step winning, a torn line aside', async () => {
    const directory = await addRun('mine')
    const lines = [metrics(0, 1, 1.5), metrics(1, 1, 2), metrics(1, 2, 2.5)]
    writeFileSync(join(directory, 'metrics.jsonl'), `${lines.join('')}{"step": 2, "att`)
    expect(await readRun(runs, 'mine')).toMatchObject({ firstReward: 1.5, lastReward: 2.5 })
  })
})

describe('a run that is named', () => {
  it('by id or by path is found', async () => {
    const root = await addRun('mine')
    expect((await findRun('mine', runs, '/')).root).toBe(root)
    expect((await findRun(root, 'elsewhere', '/')).root).toBe(root)
  })

  it('by nothing is the newest that can go on', async () => {
    await addRun('done', { state: 'finished', updatedAt: '2026-03-01T00:00:00.000Z' })
    await addRun('stopped', { state: 'stopped', updatedAt: '2026-02-01T00:00:00.000Z' })
    await addRun('lost', { pid: deadPid })
    expect((await findRun('', runs, '/')).id).toBe('stopped')
  })

  it('but is not there is a usage error', async () => {
    await expect(findRun('nowhere', runs, '/')).rejects.toThrow('there is no run nowhere')
    await expect(findRun('', runs, '/')).rejects.toThrow('that could be continued')
  })

  it('brings its config, with where the run is now and with new overrides', async () => {
    await addRun('mine')
    const { config, provenance } = await loadRunConfig(await findRun('mine', runs, '/'), ['run.steps=20'])
    expect(config.run).toMatchObject({ dir: runs, id: 'mine', steps: 20 })
    expect(config.pool.kind).toBe('world')
    expect(provenance['run.seed']).toBe('default')
  })
})
