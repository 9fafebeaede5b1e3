import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ordered, runColumns, runOrder, type RunColumnName } from '../../../trainer/dashboard/page/run-columns.ts'
import type { RunCard, RunList, RunNames } from '../../../trainer/dashboard/view.ts'
import { dashboardApp, makeRuns, metricsLine } from '../../support/dashboard.ts'
import { writeStatistics } from '../../support/written-statistics.ts'

describe('the list of runs', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  beforeAll(async () => {
    runs = await makeRuns()
  })
  afterAll(() => runs.remove())
  const get = async <T>(path: string): Promise<T> =>
    (await (await dashboardApp(runs.directory).request(`http://localhost/api/${path}`)).json()) as T
  const card = async (): Promise<RunCard> => {
    const { runs: cards } = await get<RunList>('runs')
    const [first] = cards
    if (first === undefined) throw new Error('there is no run')
    return first
  }

  it('tells the change from base without an interval where nothing was computed, and the worst node', async () => {
    const { heldout } = await card()
    expect(heldout?.delta).toBeCloseTo((heldout?.trained ?? 0) - (heldout?.base ?? 0), 9)
    expect(heldout?.interval).toBeNull()
    expect(heldout?.worst?.delta).toBeLessThan(heldout?.delta ?? 0)
  })
  it('tells the interval and the smallest change of a node that the evaluation wrote', async () => {
    const { results } = await writeStatistics(join(runs.run, 'eval', 'final'))
    const rewards = results.filter(({ measure, targetClass }) => measure === 'reward' && targetClass === null)
    const whole = rewards.find(({ node }) => node === null)
    const worst = rewards.filter(({ node }) => node !== null).toSorted((a, b) => a.delta - b.delta)[0]
    expect((await card()).heldout).toEqual({
      ...{ name: 'final', base: whole?.base, trained: whole?.trained, delta: whole?.delta },
      ...{ interval: whole?.interval, worst: { node: worst?.node, delta: worst?.delta } },
    })
  })
  it('does not take statistics that are of another seed, or torn', async () => {
    const path = join(runs.run, 'eval', 'final', 'statistics.json')
    const statistics = await writeStatistics(join(runs.run, 'eval', 'final'))
    await writeFile(path, JSON.stringify({ ...statistics, seed: statistics.seed + 1 }))
    expect((await card()).heldout?.interval).toBeNull()
    await writeFile(path, '{"seed":')
    expect((await card()).heldout?.interval).toBeNull()
  })
  it('counts the rules that fire, and those that begin to', async () => {
    const app = dashboardApp(runs.directory)
    const alerts = async (): Promise<RunCard['alerts'] | undefined> => {
      const list = (await (await app.request('http://localhost/api/runs')).json()) as RunList
      return list.runs[0]?.alerts
    }
    expect(await alerts()).toEqual({ warnings: 0, notes: 0 })
    const line = metricsLine(2, 1, 3, { kl: 90, 'completions/clipped_ratio': 0.9 })
    await writeFile(join(runs.run, 'metrics.jsonl'), metricsLine(0, 1, 1) + metricsLine(1, 1, 2) + line)
    const event = { at: '2026-01-01T00:00:00.000Z', attempt: 1, step: 1, kind: 'warning', message: 'slow' }
    await writeFile(join(runs.run, 'events.jsonl'), `${JSON.stringify(event)}\n`)
    expect(await alerts()).toEqual({ warnings: 2, notes: 1 })
  })
  it('gives the names alone to those who want no more', async () =>
    expect(await get<RunNames>('run-names')).toEqual({ runs: ['mine'] }))
})

describe('orders of the list of runs', () => {
  const card = (id: string, changes: Partial<RunCard>): RunCard => ({
    ...{ id, state: 'finished', problem: null, model: null, step: 0, steps: 9, attempt: 1, updatedAt: '2026' },
    ...{ curve: [], lastReward: null, rewardMaximum: 5, heldout: null, alerts: { warnings: 0, notes: 0 } },
    ...changes,
  })
  const heldout = (delta: number, worst: number): RunCard['heldout'] => ({
    ...{ name: 'final', base: 1, trained: 1 + delta, delta, interval: null, worst: { node: 'n2', delta: worst } },
  })
  const cards = [
    card('run-10', { lastReward: 2, heldout: heldout(0.5, -0.1), step: 4, updatedAt: '2026-03' }),
    card('run-9', {
      lastReward: 3,
      heldout: heldout(0.2, 0.1),
      alerts: { warnings: 2, notes: 0 },
      updatedAt: '2026-02',
    }),
    card('none', { state: 'running', updatedAt: '2026-01' }),
  ]
  const idsBy = (text: string | null): string[] => ordered(cards, runOrder(text)).map(({ id }) => id)

  it.each([
    [null, ['run-10', 'run-9', 'none']],
    ['run', ['none', 'run-9', 'run-10']],
    ['reward', ['run-9', 'run-10', 'none']],
    ['-reward', ['run-10', 'run-9', 'none']],
    ['change', ['run-10', 'run-9', 'none']],
    ['node', ['run-10', 'run-9', 'none']],
    ['-node', ['run-9', 'run-10', 'none']],
    ['alerts', ['run-9', 'run-10', 'none']],
    ['-updated', ['none', 'run-9', 'run-10']],
    ['constructor', ['run-10', 'run-9', 'none']],
  ])('%s: %j', (text, ids) => expect(idsBy(text)).toEqual(ids))
  it.each(Object.keys(runColumns) as RunColumnName[])('lose no run: %s', (column) => {
    for (const text of [column, `-${column}`]) expect(idsBy(text).toSorted()).toEqual(idsBy(null).toSorted())
  })
})
