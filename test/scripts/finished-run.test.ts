import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runInProcess } from '../support/in-process-cli.ts'
import { makeRun } from '../support/published-run.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const makeEnded = async (state: string, step: number): Promise<string> => {
  const cwd = temporaryDirectory()
  // A worker that is asked for would fail at once.
  const { root } = await makeRun({ id: 'mine', cwd, sets: ['run.steps=9', 'worker.python=/nowhere/python'] })
  const status = {
    ...{ state, step, steps: 9, policyVersion: step, adapter: 'adapters/v000009', attempt: 1, pid: 1 },
    ...{ updatedAt: '2026-01-01T00:00:00.000Z', message: null },
  }
  writeFileSync(join(root, 'status.json'), JSON.stringify(status))
  return cwd
}

it('a finished run is said to be finished at once, with what it came to', async () => {
  const cwd = await makeEnded('finished', 9)
  const { code, stdout, stderr } = await runInProcess(['train', '--resume', 'mine', '--json'], cwd)
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^finished after step 9 of 9: /) })
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ kind: 'finished', step: 9, evaluation: { name: 'final' }, resumeWith: null },
    adapter: join(cwd, 'runs', 'mine', 'adapters', 'v000009'),
  })
})

it.each([
  ['one that is to go on longer', 'finished', 9, ['--set', 'run.steps=20']],
  ['one that was stopped', 'stopped', 5, []],
])('%s is continued', async (_, state, step, args) => {
  const cwd = await makeEnded(state, step)
  const { code, stderr } = await runInProcess(['train', '--resume', 'mine', ...args], cwd)
  expect({ code, stderr }).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('run mine cannot be continued: changed since'),
  })
})
