import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import type { EngineProcess } from '../../trainer/vllm-process.ts'
import { HttpClient } from '../contract/http-client.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'
import { kill, noVllm, startServer, token, vllmProgram, vllmVersion } from './server.ts'
import { contextTokens, eventsOf, metricsOf, rolloutsOf, settings, trainAndAct } from './training.ts'

const tokenEnv = 'TEST_SAMPLER_KEY'

/** Command lines of all processes that name a directory. */
const processesOf = (directory: string): string[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return line.includes(directory) ? [line] : []
    } catch {
      // It ended between the listing and the reading.
      return []
    }
  })

describe.skipIf(noVllm)(`training the toy base with vLLM ${vllmVersion}`, () => {
  const directory = temporaryDirectory()
  const model = join(directory, 'tiny-base')
  let server: EngineProcess
  let whole = ''

  /** What the metrics say about the learning, and nothing of times. */
  const learningOf = (run: string, steps: number) =>
    metricsOf(run)
      .slice(0, steps)
      .map((line) => [line['reward'], line['loss'], line['grad_norm'], line['kl'], line['entropy']])

  /** A run of fewer steps has sampled, scored and learned the same as the undisturbed one. */
  const expectSame = (run: string, steps: number): void => {
    for (let step = 0; step < steps; step++) {
      const tokens = (name: string) =>
        rolloutsOf(name, step).map(({ promptId, seed, policyVersion, completions }) => [
          ...[promptId, seed, policyVersion],
          completions.map(({ tokenIds, finishReason }) => [tokenIds, finishReason]),
        ])
      expect(tokens(run), `step ${step}`).toEqual(tokens(whole))
    }
    learningOf(run, steps).forEach((values, step) => {
      values.forEach((value, i) => expect(value).toBeCloseTo(Number(learningOf(whole, steps)[step]?.[i]), 3))
    })
  }

  beforeAll(async () => {
    // A copy of its own tells this test's processes from others'.
    cpSync(join(packageRoot(), 'data/tiny-base'), model, { recursive: true })
    server = await startServer({ model, directory, contextTokens })
  }, 1_800_000)
  afterAll(async () => {
    await server?.stop()
  })

  const attached = () => [
    ...[`model.path=${model}`, `run.dir=${directory}/runs`, ...settings],
    ...['sampling.server.kind=vllm', `sampling.server.url=${server.url}`, `sampling.server.tokenEnv=${tokenEnv}`],
  ]

  it('takes ten steps, each on a policy that was proved, and leaves two adapters and no process', async () => {
    const sets = [...attached(), 'run.id=whole'].flatMap((set) => ['--set', set])
    const options = { cwd: directory, env: { [tokenEnv]: token } }
    const { code, stdout, stderr } = await runProgram(
      'scripts/train.ts',
      ['--config', 'tiny.yaml', ...sets, '--json'],
      options,
    )
    expect([code, stderr]).toEqual([0, expect.anything()])
    const outcome = JSON.parse(stdout) as { kind: string; directory: string; policyVersion: number }
    expect(outcome).toMatchObject({ kind: 'finished', policyVersion: 10 })
    whole = outcome.directory

    const metrics = metricsOf(whole)
    expect(metrics).toHaveLength(10)
    for (const line of metrics) {
      expect(line['sampling/canary_difference']).toBeLessThan(1e-4)
      expect(line['sampling/canary_moved']).toBeGreaterThan(Number(line['sampling/canary_difference']))
      expect(line['sampling/sampling_logp_difference/mean']).toBeLessThan(1e-4)
    }
    for (let step = 0; step < 10; step++) {
      const name = step === 0 ? 'base' : `policy-whole-${String(step).padStart(6, '0')}`
      for (const group of rolloutsOf(whole, step))
        expect(group).toMatchObject({ policyVersion: step, policyName: name })
    }
    const { data } = JSON.parse((await new HttpClient(server.url, token).get('/v1/models')).text) as {
      data: { id: string }[]
    }
    expect(data.map(({ id }) => id)).toEqual(['base', 'policy-whole-000009', 'policy-whole-000010'])
    expect(processesOf(model).filter((line) => line.includes('grpo_worker'))).toEqual([])
  })

  it('goes on when the server is killed and restarted in the middle of a step, and comes to the same', async () => {
    process.env[tokenEnv] = token
    const port = Number(new URL(server.url).port)
    let restarting: Promise<void> | undefined
    const restart = async (): Promise<void> => {
      kill(server)
      await server.stop()
      server = await startServer({ model, directory, contextTokens, port })
    }
    const outcome = await trainAndAct([...attached(), 'run.id=disturbed', 'run.steps=5'], {
      ...{ directory, step: 3 },
      act: () => void (restarting = restart()),
    })
    await restarting
    expect(outcome).toMatchObject({ kind: 'finished', policyVersion: 5 })
    expectSame(outcome.directory, 5)
    const told = eventsOf(outcome.directory).map(({ kind, message }) => `${kind}: ${message}`)
    expect(told.join('\n')).toMatch(/is lost/)
    expect(told.join('\n')).toMatch(/proved: base, .*policy-disturbed-000003/)
  })

  it('starts a server that it had started again when it is killed, and leaves nothing running', async () => {
    await server.stop()
    const spawned = [
      ...['kind=spawn', `command=${vllmProgram}`, 'dtype=float32', 'enforceEager=true', 'maxSeqs=16'],
      'startTimeoutSeconds=1500',
    ].map((set) => `sampling.server.${set}`)
    const killEngine = (): void => {
      const { pid } = JSON.parse(readFileSync(newestRecord(join(directory, 'runs/spawned/processes')), 'utf8')) as {
        pid: number
      }
      process.kill(-pid, 'SIGKILL')
    }
    const sets = [`model.path=${model}`, `run.dir=${directory}/runs`, ...settings, ...spawned]
    const outcome = await trainAndAct([...sets, 'run.id=spawned', 'run.steps=4'], {
      ...{ directory, step: 2 },
      act: killEngine,
    })
    expect(outcome).toMatchObject({ kind: 'finished', policyVersion: 4 })
    expectSame(outcome.directory, 4)
    expect(processesOf(model)).toEqual([])
  })
})

/** Record of the vLLM among a run's processes. */
const newestRecord = (records: string): string => {
  const name = readdirSync(records).find((file) => readFileSync(join(records, file), 'utf8').includes('policy server'))
  if (name === undefined) throw new Error(`no vLLM is on record in ${records}`)
  return join(records, name)
}
