import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
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
