import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert as assertProperty, asyncProperty } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dashboardApp, makeRuns } from '../../support/dashboard.ts'
import { spoilt, spoiltLines } from '../../support/spoilt.ts'

vi.setConfig({ testTimeout: 300_000 })

const at = '2026-01-01T00:00:00.000Z'
const event = { at, attempt: 1, step: 1, kind: 'checkpoint', message: 'step-000001' }
const attempt = { attempt: 1, at, fromStep: 0, fromVersion: 0, pid: 1, host: 'box', worker: { device: 'cpu' } }
const meta = {
  ...{ id: 'mine', createdAt: at, seed: 0, versions: { torch: '2.0' }, judge: 'reference', rewardMaximum: 5.6 },
  model: { path: 'm', hash: 'h', architecture: 'a', parameters: 1, dtype: 'float32', device: 'cpu' },
  pool: { hash: 'h', train: 1, heldout: 1, refused: [] },
}
const spread = { n: 8, mean: 0.5, sd: 0.1, atZero: 0, atHalf: 1, atOne: 0, quantiles: [0, 0, 0, 1, 1], agreement: null }
const audit = {
  ...{ at, judge: 'j', form: 'full', completionsFrom: 'x', tolerance: 0.1, questions: 1, unanswered: 0, reasons: [] },
  ...{ all: spread, nodes: { n1: spread }, correlations: {}, suites: [], findings: [], warnings: [], seconds: 1 },
  ...{ noise: { n: 1, meanDifference: 0, largestDifference: 0, sd: 0 }, verdict: 'finding' },
}

let runs: Awaited<ReturnType<typeof makeRuns>>
beforeAll(async () => {
  runs = await makeRuns()
  const write = (name: string, value: object): void => writeFileSync(join(runs.run, name), `${JSON.stringify(value)}\n`)
  mkdirSync(join(runs.run, 'audit'))
  for (const [name, value] of Object.entries({ 'meta.json': meta, 'audit/audit.json': audit })) write(name, value)
  for (const [name, value] of Object.entries({ 'events.jsonl': event, 'attempts.jsonl': attempt })) write(name, value)
})
afterAll(() => runs.remove())

const files = [
  ...['status.json', 'meta.json', 'metrics.jsonl', 'events.jsonl', 'attempts.jsonl', 'config.resolved.json'],
  ...['audit/audit.json', 'eval/final/summary.json', 'eval/final/trained.jsonl', 'pool.jsonl'],
  'rollouts/step-000001.jsonl',
]
const pages = ['', '/mine', '/mine/series?keys=reward', '/mine/rollouts', '/mine/groups/1/0', '/mine/nodes']
const more = ['/mine/components', '/mine/evaluations/final', '/mine/evaluations/final/history', '/mine/audit']

/** Pages that failed, rather than showing the run or what is wrong with it. */
const failedPages = async (): Promise<string[]> => {
  const app = dashboardApp(runs.directory)
  const failed: string[] = []
  for (const page of [...pages, ...more]) {
    const response = await app.request(`http://localhost/api/runs${page}`)
    if (![200, 404, 422].includes(response.status)) failed.push(`${page}: ${response.status}`)
    await response.text()
  }
  return failed
}

describe('a run with a spoilt file', () => {
  it.each(files)('%s is shown, or what is wrong with it is', async (file) => {
    const path = join(runs.run, file)
    const before = readFileSync(path)
    const texts = file.endsWith('.jsonl') ? before.toString().trim().split('\n').slice(0, 3) : [before.toString()]
    const values = texts.map((text) => JSON.parse(text) as unknown)
    await assertProperty(
      asyncProperty(file.endsWith('.jsonl') ? spoiltLines(values) : spoilt(...values), async (text) => {
        writeFileSync(path, text)
        expect(await failedPages()).toEqual([])
      }),
      { numRuns: 20 },
    )
    writeFileSync(path, before)
  })
})
