import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../configs/load.ts'
import { packageRoot } from '../../data/package-root.ts'
import { findNewestRun, findRun, loadRunConfig } from '../../scripts/run-config.ts'
import { listRuns, readRun } from '../../scripts/run-list.ts'
import { processStart } from '../../trainer/lock.ts'
import { temporaryDirectory } from '../support/temporary.ts'

let runs = ''
beforeEach(() => {
  runs = temporaryDirectory()
})

/** No process has this number: it is above what the system gives out. */
const deadPid = 2 ** 30

/** As the process that holds a run would have written it; by default this process itself. */
const hold = (id: string, holder: object = {}): void =>
  writeFileSync(
    join(runs, id, 'lock.json'),
    JSON.stringify({ pid: process.pid, startedAt: processStart(process.pid), host: hostname(), ...holder }),
  )

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

  it('calls a run lost that says it runs while nobody holds it', async () => {
    await addRun('gone')
    hold('gone', { pid: deadPid, startedAt: '1' })
    await addRun('never-held')
    await addRun('ended', { state: 'finished' })
    expect((await readRun(runs, 'gone'))?.state).toBe('lost')
    expect((await readRun(runs, 'never-held'))?.state).toBe('lost')
    expect((await readRun(runs, 'ended'))?.state).toBe('finished')
  })

  it('is not deceived by a pid that was given to another process', async () => {
    await addRun('old')
    hold('old', { startedAt: 'long ago' })
    expect(await readRun(runs, 'old')).toMatchObject({ state: 'lost', heldBy: null })
  })

  it('says who is at work on a run, also on one that has ended', async () => {
    await addRun('training')
    hold('training')
    await addRun('evaluated', { state: 'finished' })
    hold('evaluated', { pid: 7, host: 'another-machine' })
    expect(await readRun(runs, 'training')).toMatchObject({ state: 'running', heldBy: { pid: process.pid } })
    expect(await readRun(runs, 'evaluated')).toMatchObject({ state: 'finished', heldBy: { host: 'another-machine' } })
  })

  it('shows a run with damaged files as unreadable, and the others all the same', async () => {
    await addRun('good')
    for (const [id, file, text] of [
      ['torn', 'status.json', '{"state":'],
      ['strange', 'status.json', '{"state":"dreaming"}'],
      ['garbled', 'metrics.jsonl', '{"step":"x"}\n'],
    ] as const)
      writeFileSync(join(await addRun(id), file), text)
    const states = Object.fromEntries((await listRuns(runs)).map(({ id, state }) => [id, state]))
    expect(states).toStrictEqual({ good: 'lost', torn: 'unreadable', strange: 'unreadable', garbled: 'unreadable' })
    expect((await readRun(runs, 'torn'))?.message).toContain('status.json cannot be read')
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

  it('but is not there is a usage error', async () => {
    await expect(findRun('nowhere', runs, '/')).rejects.toThrow('there is no run nowhere')
    await expect(findRun('', runs, '/')).rejects.toThrow('there is no run')
  })

  it('brings its config, with where the run is now and with new overrides', async () => {
    await addRun('mine')
    const { config, provenance } = await loadRunConfig(await findRun('mine', runs, '/'), ['run.steps=20'])
    expect(config.run).toMatchObject({ dir: runs, id: 'mine', steps: 20 })
    expect(config.pool.kind).toBe('world')
    expect(provenance['run.seed']).toBe('default')
  })
})

describe('the run to continue when none is named', () => {
  const day = (n: number): string => `2026-03-0${n}T00:00:00.000Z`

  it('is the newest that is neither finished nor in use, and is named with what was passed over', async () => {
    await addRun('done', { state: 'finished', updatedAt: day(5) })
    await addRun('starting', { state: 'starting', updatedAt: day(4) })
    hold('starting')
    await addRun('evaluated', { state: 'stopped', updatedAt: day(3) })
    hold('evaluated')
    await addRun('stopped', { state: 'stopped', updatedAt: day(2) })
    await addRun('older', { updatedAt: day(1) })
    const said: string[] = []
    expect((await findNewestRun(runs, '/', (text) => said.push(text))).id).toBe('stopped')
    const holder = `in use by process ${process.pid} on ${hostname()}`
    expect(said).toStrictEqual([
      'continuing stopped, the newest run that is neither finished nor in use; ' +
        `passed over: done (finished, 3 of 9 steps), starting (${holder}), evaluated (${holder})`,
    ])
  })

  it('may be one whose process was lost', async () => {
    await addRun('lost')
    expect((await findNewestRun(runs, '/', () => undefined)).id).toBe('lost')
  })

  it('does not exist where all are finished, in use or unreadable: the error says so of each', async () => {
    const none = findNewestRun(join(runs, 'nowhere'), '/', () => undefined)
    await expect(none).rejects.toThrow(/that could be continued$/)
    writeFileSync(join(await addRun('torn'), 'status.json'), '')
    await addRun('mine')
    hold('mine')
    const refused = findNewestRun(runs, '/', () => undefined)
    await expect(refused).rejects.toThrow(/torn \(unreadable\)/)
    await expect(refused).rejects.toThrow(/mine \(in use by process/)
  })
})
