import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../configs/load.ts'
import { endLeftBehind } from '../../../scripts/doctor/left-behind.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

it('looks for processes of killed runs past what is no run', async () => {
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'runs', 'a-run'), { recursive: true })
  writeFileSync(join(cwd, 'runs', '.DS_Store'), '')
  const { config } = await loadConfig({ name: 'tiny.yaml', sets: [], cwd })
  expect(await endLeftBehind(config, cwd)).toStrictEqual([])
})
