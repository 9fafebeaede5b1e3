import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../configs/load.ts'
import { packageRoot } from '../../../data/package-root.ts'
import { gatherFacts } from '../../../scripts/plan/gather.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('the time of a step comes from the newest run of the same settings; damaged runs are passed over', async () => {
  const runs = temporaryDirectory()
  const { config } = await loadConfig({
    name: 'tiny.yaml',
    sets: [`run.dir=${JSON.stringify(runs)}`],
    cwd: packageRoot(),
  })
  const add = (id: string, stored: string, metrics: string): void => {
    mkdirSync(join(runs, id))
    writeFileSync(join(runs, id, 'config.resolved.json'), stored)
    writeFileSync(join(runs, id, 'metrics.jsonl'), metrics)
  }
  const line = (step: number, seconds: number): string =>
    JSON.stringify({
      step,
      attempt: 1,
      at: '2026-01-01T00:00:00Z',
      from_version: 0,
      policy_version: 1,
      step_time: seconds,
    })
  const values = JSON.stringify({ values: config, provenance: {} })
  add('a-good', values, `${line(0, 60)}\n${line(1, 3)}\n`)
  add('b-torn', '{"values":', '')
  add('c-strange', values, '{"step":"x"}\n')
  expect((await gatherFacts(config, 10, packageRoot())).secondsPerStep).toBe(3)
})
