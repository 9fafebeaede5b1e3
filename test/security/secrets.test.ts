import { readFileSync } from 'node:fs'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { echoServer, type EchoOptions } from '../support/echo-server.ts'
import { filesBelow } from '../support/files-below.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { JudgeServer } from '../support/judge-server.ts'
import { makeRun } from '../support/published-run.ts'
import { runProgram, type Ended } from '../support/run-program.ts'
import { noPython, temporaryDirectory } from '../support/tiny-training.ts'
import { mlflowServer } from '../support/tracking-servers.ts'

// Two programs load a worker, and that takes minutes on a machine that is busy with other things.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

/** One for each place that a token can come from, so that a leak names its source. */
const planted = {
  HF_TOKEN: 'hf_planted0secret0of0the0hub00000001',
  JUDGE_KEY: 'planted-secret-of-the-judge-0002',
  SAMPLER_TOKEN: 'planted-secret-of-the-sampler-0003',
  WORKER_TOKEN: 'planted-secret-of-the-worker-0004',
  MLFLOW_TRACKING_TOKEN: 'planted-secret-of-mlflow-0005',
  TRACKIO_WRITE_TOKEN: 'planted-secret-of-trackio-0006',
}
type Planted = keyof typeof planted

const env = (hub: string): NodeJS.ProcessEnv => ({
  ...process.env,
  ...planted,
  HF_ENDPOINT: hub,
  HF_HOME: temporaryDirectory(),
  DRIFT_GRPO_DEBUG: '1',
  DRIFT_GRPO_DASHBOARD: 'off',
})

const leaks = (place: string, bytes: Buffer | string): string[] =>
  Object.entries(planted).flatMap(([name, secret]) => (bytes.includes(secret) ? [`${name} in ${place}`] : []))

/** Everything that was said and every byte that was written. */
const expectNoLeak = ({ stdout, stderr }: Ended, directory: string): void => {
  const files = filesBelow(directory).flatMap((file) => leaks(file, readFileSync(file)))
  expect([...leaks('stdout', stdout), ...leaks('stderr', stderr), ...files]).toEqual([])
}

const open: { close: () => Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
const echo = async (options?: EchoOptions) => {
  const server = await echoServer(options)
  open.push(server)
  /** The secret must have been sent, or its absence says nothing. */
  const expectTold = (name: Planted): void => expect(server.told.join('\n')).toContain(planted[name])
  return { ...server, expectTold }
}

const sets = (...pairs: string[]): string[] => pairs.flatMap((pair) => ['--set', pair])

describe('servers that repeat the token they were sent', () => {
  let cwd = ''
  beforeAll(async () => {
    cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd })
  })

  it('do not make doctor say it, of whatever it examines', async () => {
    const [judge, sampler, worker, hub] = [await echo(), await echo(), await echo({ status: 401 }), await echo()]
    const settings = sets(
      `judge={kind: llm, baseUrl: ${judge.url}/v1, model: judge, apiKeyEnv: JUDGE_KEY, cache: {dir: null}}`,
      `sampling.server={kind: vllm, url: ${sampler.url}, model: base, tokenEnv: SAMPLER_TOKEN}`,
      `worker={kind: attach, url: ${worker.url}, tokenEnv: WORKER_TOKEN}`,
      'model.path=some/model',
    )
    const ended = await runInProcess(['doctor', '--json', ...settings], cwd, env(hub.url))
    expect(ended.code).toBe(3)
    for (const [server, name] of [
      [judge, 'JUDGE_KEY'],
      [sampler, 'SAMPLER_TOKEN'],
      [worker, 'WORKER_TOKEN'],
      [hub, 'HF_TOKEN'],
    ] as const)
      server.expectTold(name)
    expectNoLeak(ended, cwd)
  })

  it.each<[string, (url: string) => string[], Planted]>([
    [
      'sampler',
      (url) => [`sampling.server={kind: vllm, url: ${url}, model: base, tokenEnv: SAMPLER_TOKEN}`],
      'SAMPLER_TOKEN',
    ],
    ['worker', (url) => [`worker={kind: attach, url: ${url}, tokenEnv: WORKER_TOKEN}`], 'WORKER_TOKEN'],
    ['MLflow', (url) => [`exports.mlflow.url=${url}`], 'MLFLOW_TRACKING_TOKEN'],
    ['trackio', (url) => [`exports.trackio.url=${url}`], 'TRACKIO_WRITE_TOKEN'],
  ])('do not make train say it: %s', async (_, settings, name) => {
    const directory = temporaryDirectory()
    const server = await echo({ status: 401 })
    const all = sets(
      'run.id=failing',
      'pool.train=10',
      'pool.heldout=5',
      'sampling.promptsPerStep=5',
      'evaluation.prompts=5',
      ...settings(server.url),
    )
    const ended = await runProgram('scripts/train.ts', ['--config', 'tiny.yaml', ...all], {
      cwd: directory,
      env: env('http://127.0.0.1:9'),
    })
    expect([3, 4]).toContain(ended.code)
    expect(ended.stderr).toContain('***')
    server.expectTold(name)
    expectNoLeak(ended, directory)
  })

  it('do not make push or export say it', async () => {
    const hub = await echo({ status: 403 })
    const pushed = await runInProcess(['push', '--run', 'mine', '--repo', 'me/mine'], cwd, env(hub.url))
    expect(pushed.code).not.toBe(0)
    hub.expectTold('HF_TOKEN')
    expectNoLeak(pushed, cwd)
    const dry = await runInProcess(['push', '--run', 'mine', '--repo', 'me/mine', '--dry-run'], cwd, env(hub.url))
    expectNoLeak(dry, cwd)
    const tracker = await echo({ status: 403 })
    const exported = await runInProcess(
      ['export', '--run', 'mine', '--to', 'mlflow', '--url', tracker.url],
      cwd,
      env(hub.url),
    )
    expect(exported.code).not.toBe(0)
    expectNoLeak(exported, cwd)
  })
})

describe.skipIf(noPython)('a training with every token set (skipped without .venv)', () => {
  it('writes none of them, in its own words or in those of its servers; nor does an evaluation of it', async () => {
    const cwd = temporaryDirectory()
    const judgeServer = await JudgeServer.start()
    const mlflow = await mlflowServer()
    open.push(judgeServer, mlflow)
    const judge = await echo({
      upstream: judgeServer.url.replace('/v1', ''),
      // Questions only: a judge that does not answer the first probe is not trained with.
      refuses: (_, body, before) => body.includes('<verdict>') && before < 3,
    })
    const tracker = await echo({
      upstream: mlflow.url,
      refuses: (path, body) => path.endsWith('log-batch') && body.includes('"step"'),
    })
    const settings = sets(
      ...['run.id=mine', 'run.steps=2'],
      ...['pool.train=10', 'pool.heldout=5', 'sampling.promptsPerStep=2', 'sampling.groupSize=2'],
      ...['evaluation.prompts=5', 'evaluation.atEnd=false'],
      `judge={kind: llm, baseUrl: ${judge.url}/v1, model: judge, apiKeyEnv: JUDGE_KEY, cache: {dir: cache}, audit: off}`,
      `exports.mlflow.url=${tracker.url}`,
      'exports.everySeconds=0.1',
    )
    const options = { cwd, env: env('http://127.0.0.1:9') }
    const trained = await runProgram('scripts/train.ts', ['--config', 'tiny.yaml', ...settings, '--json'], options)
    expect({ code: trained.code, stderr: trained.code === 0 ? '' : trained.stderr }).toEqual({ code: 0, stderr: '' })
    judge.expectTold('JUDGE_KEY')
    tracker.expectTold('MLFLOW_TRACKING_TOKEN')
    expectNoLeak(trained, cwd)
    const evaluated = await runProgram('scripts/cli.ts', ['eval', '--run', 'mine', '--samples', '1', '--json'], options)
    expect(evaluated.code).toBe(0)
    expectNoLeak(evaluated, cwd)
    for (const args of [
      ['export', '--run', 'mine', '--to', 'csv', '--out', 'out'],
      ['push', '--run', 'mine', '--repo', 'me/mine', '--dry-run'],
    ])
      expectNoLeak(await runInProcess(args, cwd, options.env), cwd)
  })
})
