import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EvaluationStatistics } from '../../../data/records/evaluation.ts'
import type { EvaluationHistory } from '../../../trainer/dashboard/view.ts'
import { makeCheckpoints } from '../../support/checkpoint-evaluations.ts'
import { dashboardApp, makeRuns } from '../../support/dashboard.ts'

describe('the evaluations of a run over its checkpoints', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  const at = (...parts: string[]): string => join(runs.run, 'eval', ...parts)
  beforeAll(async () => {
    runs = await makeRuns()
    await makeCheckpoints(runs.run)
  })
  afterAll(() => runs.remove())
  const get = (name: string) =>
    dashboardApp(runs.directory).request(`http://localhost/api/runs/mine/evaluations/${name}/history`)
  const history = async (name = 'final'): Promise<EvaluationHistory> =>
    (await (await get(name)).json()) as EvaluationHistory

  it('holds each prompt at each of them', async () => {
    const { points, leftOut, prompts } = await history()
    expect(points).toEqual([
      { name: 'step-30', step: 30 },
      { name: 'final', step: 60 },
    ])
    expect(leftOut).toEqual([])
    const { promptDeltas } = EvaluationStatistics.parse(
      JSON.parse(await readFile(at('final', 'statistics.json'), 'utf8')),
    )
    expect(prompts).toHaveLength(promptDeltas.length)
    for (const { promptId, base, trained } of promptDeltas)
      expect(prompts.find((one) => one.promptId === promptId)).toMatchObject({ base, trained: [base, trained] })
  })
  it('takes one for each step, the one that is looked at', async () => {
    await cp(at('final'), at('again'), { recursive: true })
    expect((await history('final')).points.map(({ name }) => name)).toEqual(['step-30', 'final'])
    expect((await history('again')).points.map(({ name }) => name)).toEqual(['step-30', 'again'])
    await rm(at('again'), { recursive: true })
  })
  it('leaves out what was measured otherwise, or has no statistics, and says so', async () => {
    const summary = JSON.parse(await readFile(at('step-30', 'summary.json'), 'utf8')) as object
    await writeFile(at('step-30', 'summary.json'), JSON.stringify({ ...summary, judge: 'another' }))
    expect(await history()).toMatchObject({ points: [{ name: 'final' }], leftOut: ['step-30'] })
    await writeFile(at('step-30', 'summary.json'), JSON.stringify(summary))
    await rm(at('step-30', 'statistics.json'))
    expect(await history()).toMatchObject({ points: [{ name: 'final' }], leftOut: ['step-30'] })
  })
  it.each(['nothing', '..', '%2e%2e%2ffinal'])('knows none by the name %s', async (name) =>
    expect((await get(name)).status).toBe(404),
  )
})
