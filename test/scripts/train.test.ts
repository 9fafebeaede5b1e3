import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { mayLack } from '../support/require.ts'
import { runProgram, startProgram, type Started } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const base = join(packageRoot(), 'data', 'tiny-base')
const notReady = mayLack([join(base, 'config.json'), join(packageRoot(), '.venv', 'bin', 'python')])

// Each test starts a worker, and loading one takes minutes on a machine that is busy with other things.
vi.setConfig({ testTimeout: 600_000 })

const cwd = temporaryDirectory()
const settings = [
  ...['model.path=./model', 'model.maxCompletionTokens=24', 'pool.train=10', 'pool.heldout=5'],
  ...['sampling.promptsPerStep=5', 'sampling.groupSize=2', 'evaluation.prompts=5', 'evaluation.atEnd=false'],
  ...['run.id=mine', 'run.steps=500'],
].flatMap((set) => ['--set', set])

/** Processes that name this test's model: its workers and nobody else's. */
const workers = (): number[] =>
  readdirSync('/proc').flatMap((name) => {
    const file = `/proc/${name}/cmdline`
    if (!/^\d+$/.test(name) || !existsSync(file)) return []
    try {
      const line = readFileSync(file, 'utf8')
      return line.includes('grpo_worker') && line.includes(join(cwd, 'model')) ? [Number(name)] : []
    } catch {
      // It ended between the listing and the reading.
      return []
    }
  })

const start = (...args: string[]): Started => startProgram('scripts/train.ts', args, { cwd })

describe.skipIf(notReady || process.platform !== 'linux')(
  'a training in a terminal (skipped without .venv and data/tiny-base)',
  () => {
    it('that is interrupted finishes its step, saves, says how to go on, and leaves no process', async () => {
      cpSync(base, join(cwd, 'model'), { recursive: true })
      const { child, said, ended } = start('--config', 'tiny.yaml', ...settings, '--json', '--serve-rewards', '0')
      const text = await said('step 1/500')
      const [, address = ''] = /the rewards of this training: (\S+)/.exec(text) ?? []
      const score = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"items": []}' }
      expect(await (await fetch(`${address}/v1/score`, score)).json()).toEqual({
        ...{ profile: 'hardened', maximum: 5.6, results: [] },
      })
      child.kill('SIGINT')
      const { code, stdout, stderr } = await ended
      expect(code).toBe(130)
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'stopped', runId: 'mine', resumeWith: 'mine' })
      expect(stderr).toContain(`continue with: npx train --resume ${join(cwd, 'runs', 'mine')}`)
      expect(workers()).toStrictEqual([])
    })

    it('can be evaluated as far as it came', async () => {
      const { code, stdout } = await runProgram(
        'scripts/cli.ts',
        ['eval', '--run', 'mine', '--samples', '1', '--json'],
        { cwd },
      )
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({
        name: 'heldout',
        decoding: { samples: 1 },
        all: { trained: { prompts: 5 } },
      })
    })

    it('that is interrupted twice ends at once and leaves no process', async () => {
      const { child, said, ended } = start('--resume', 'mine')
      await said('attempt 2')
      child.kill('SIGINT')
      await said('once more')
      child.kill('SIGINT')
      expect((await ended).code).toBe(130)
      expect(workers()).toStrictEqual([])
    })

    it('that loses its worker fails with exit code 4 and can be continued', async () => {
      const { said, ended } = start('--resume')
      await said('/500')
      for (const pid of workers()) process.kill(pid, 'SIGKILL')
      const { code, stderr } = await ended
      expect(code).toBe(4)
      expect(stderr).toContain('the worker ended unexpectedly (signal SIGKILL)')
      expect(stderr).not.toMatch(/^ {4}at /m)
      const list = await runProgram('scripts/cli.ts', ['runs', '--json'], { cwd })
      expect(JSON.parse(list.stdout)).toMatchObject([{ id: 'mine', state: 'failed' }])
    })
  },
)
