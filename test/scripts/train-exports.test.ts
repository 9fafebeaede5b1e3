import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../configs/load.ts'
import { packageRoot } from '../../data/package-root.ts'
import { RunEvent } from '../../data/records/run.ts'
import { exportsOf } from '../../scripts/train-exports.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { mayLack } from '../support/require.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'
import { mlflowServer, trackioServer } from '../support/tracking-servers.ts'

// The training loads a worker, and that takes minutes on a machine that is busy with other things.
vi.setConfig({ testTimeout: 900_000 })

const root = packageRoot()
const notReady = mayLack([join(root, 'data', 'tiny-base', 'config.json'), join(root, '.venv', 'bin', 'python')])
const secret = 'a-very-secret-token'

const everyFile = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? everyFile(path) : [path]
  })

const nothing = new AbortController().signal

describe('the exports of a run', () => {
  it('have written into it all that they will when it ends', async () => {
    let away = false
    const server = await mlflowServer({ fail: () => (away ? { status: 503, text: 'away' } : null) })
    try {
      const { config } = await loadConfig({
        name: 'tiny.yaml',
        sets: [`exports.mlflow.url=${server.url}`, 'exports.everySeconds=600'],
        cwd: root,
      })
      const said: string[] = []
      const { onOpened, onEnding } = await exportsOf({
        config,
        env: {},
        say: (text) => said.push(text),
        signal: nothing,
      })
      const run = new RunDirectory(temporaryDirectory(), 'mine')
      mkdirSync(run.root)
      await onOpened?.(run)
      const row = { step: 0, attempt: 1, at: '2026-01-01T00:00:00.000Z', reward: 1 }
      writeFileSync(run.metrics, `${JSON.stringify(row)}\n`)
      away = true
      await onEnding?.('finished')
      const told = readFileSync(run.at('events.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => RunEvent.parse(JSON.parse(line)).message)
      expect(told).toStrictEqual([
        expect.stringMatching(/^mlflow does not take metrics now, training goes on: .*503: away/),
        expect.stringMatching(/^mlflow did not take 1 steps/),
      ])
      expect(said).toStrictEqual(told.map((message) => `warning: ${message}`))
    } finally {
      await server.close()
    }
  })
})

describe.skipIf(notReady)('a training that sends its metrics on (skipped without .venv and data/tiny-base)', () => {
  const servers: { close: () => Promise<void> }[] = []
  afterAll(async () => {
    for (const server of servers) await server.close()
  })

  it('finishes although one server fails on the way, says so once, and gives the others every step', async () => {
    const cwd = temporaryDirectory()
    let refused = 0
    const mlflow = await mlflowServer({
      // It takes the first metrics, and nothing afterwards.
      fail: () => (mlflow.runs[0]?.metrics.length ? { status: 503, text: `away ${++refused}` } : null),
    })
    const trackio = await trackioServer(secret)
    servers.push(mlflow, trackio)
    const settings = [
      ...['model.maxCompletionTokens=24', 'pool.train=10', 'pool.heldout=5', 'run.id=mine', 'run.steps=3'],
      ...['sampling.promptsPerStep=5', 'sampling.groupSize=2', 'evaluation.prompts=5', 'evaluation.atEnd=false'],
      ...[`exports.mlflow.url=${mlflow.url}`, `exports.trackio.url=${trackio.url}`],
      ...['exports.tensorboard=true', 'exports.everySeconds=0.1'],
    ].flatMap((set) => ['--set', set])
    const env = { TRACKIO_WRITE_TOKEN: secret, DRIFT_GRPO_DASHBOARD: 'off' }
    const { code, stderr } = await runProgram('scripts/train.ts', ['--config', 'tiny.yaml', ...settings], { cwd, env })
    expect({ code, stderr: code === 0 ? '' : stderr }).toStrictEqual({ code: 0, stderr: '' })

    expect(trackio.entries.map(({ step }) => step)).toStrictEqual([0, 1, 2])
    expect(trackio.entries[0]?.metrics['reward']).toBeTypeOf('number')
    expect(mlflow.runs[0]?.metrics.length).toBeGreaterThan(50)
    expect(refused).toBeGreaterThan(0)
    expect(stderr.match(/mlflow does not take metrics now, training goes on/g)).toHaveLength(1)
    expect(stderr).toMatch(/mlflow did not take \d steps; drift-grpo export sends all of them/)

    const run = join(cwd, 'runs', 'mine')
    const [events = ''] = readdirSync(join(run, 'tensorboard'))
    expect(readFileSync(join(run, 'tensorboard', events), 'latin1').match(/step_time/g)).toHaveLength(3)
    expect(readFileSync(join(run, 'events.jsonl'), 'utf8')).toContain('mlflow does not take metrics now')
    expect(everyFile(run).filter((file) => readFileSync(file, 'utf8').includes(secret))).toStrictEqual([])
    expect(stderr).not.toContain(secret)
  })
})
