import { readdirSync, readlinkSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { connectSinks } from '../../../trainer/exports/connect.ts'
import { ExportsSection, MlflowTarget, TrackioTarget } from '../../../trainer/exports/config.ts'
import { flatParams } from '../../../trainer/exports/label.ts'
import { connectMlflow } from '../../../trainer/exports/mlflow.ts'
import type { MetricPoint } from '../../../trainer/exports/sink.ts'
import { connectTrackio } from '../../../trainer/exports/trackio.ts'
import { writeResumedRun } from '../../support/exported-run.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { mlflowServer, trackioServer } from '../../support/tracking-servers.ts'

const nothing = new AbortController().signal
const secret = 'a-very-secret-token'
const label = {
  ...{ name: 'mine', attempt: 1, startedAt: 5 },
  params: flatParams({ grpo: { beta: 0.04, bounds: [1, 2] }, long: 'x'.repeat(900), none: null }),
}

/** What this process has open; a descriptor may be gone between two looks. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return []
    }
  })

const points = (from: number, to: number): MetricPoint[] =>
  Array.from({ length: to - from }, (_, i) => ({
    step: from + i,
    at: 1000 + from + i,
    values: { reward: from + i, 'reward/n1/json_valid': 0.5, ...many },
  }))
/** More measures than one request may hold over a few steps. */
const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`m/${i}`, i]))

let close: () => Promise<void> = async () => undefined
afterEach(() => close())

describe('MLflow', () => {
  const open = async (options: Parameters<typeof mlflowServer>[0] = {}) => {
    const server = await mlflowServer(options)
    close = server.close
    return { server, target: MlflowTarget.parse({ url: `${server.url}/`, experiment: 'a b/ü' }) }
  }

  it('gets an experiment, a run with its config, every metric of every step, and the end', async () => {
    const { server, target } = await open({ token: secret })
    const sink = await (await connectMlflow(target, { MLFLOW_TRACKING_TOKEN: secret }, nothing))(label)
    await sink.write(points(0, 5), nothing)
    await sink.close('finished', nothing)
    const [run] = server.runs
    expect(run).toMatchObject({ name: 'mine', status: 'FINISHED' })
    expect(run?.params).toMatchObject({
      'grpo.beta': '0.04',
      'grpo.bounds': '[1,2]',
      long: 'x'.repeat(500),
      none: 'null',
    })
    expect(run?.metrics).toHaveLength(5 * 252)
    expect(
      run?.metrics.filter(({ key }) => key === 'reward').map(({ step, value, timestamp }) => [step, value, timestamp]),
    ).toStrictEqual([0, 1, 2, 3, 4].map((step) => [step, step, 1000 + step]))
  })

  it('uses an experiment that is there, and begins a run of its own for every attempt', async () => {
    const { server, target } = await open()
    for (const attempt of [1, 2]) await (await connectMlflow(target, {}, nothing))({ ...label, attempt })
    expect(server.calls.filter(({ route }) => route.endsWith('experiments/create'))).toHaveLength(1)
    expect(server.runs.map(({ name }) => name)).toStrictEqual(['mine', 'mine attempt 2'])
  })

  it('counts nothing twice when a delivery is repeated', async () => {
    const { server, target } = await open()
    const sink = await (await connectMlflow(target, {}, nothing))(label)
    await sink.write(points(0, 2), nothing)
    await sink.write(points(0, 3), nothing)
    expect(server.runs[0]?.metrics).toHaveLength(3 * 252)
  })

  it('is refused where something else answers with JSON', async () => {
    const { target } = await open({ fail: () => ({ json: { status: 'ok' } }) })
    await expect(connectMlflow(target, {}, nothing)).rejects.toMatchObject({
      boundary: 'setup',
      message: expect.stringContaining('the answer is not that of mlflow') as string,
    })
  })

  it.skipIf(process.platform !== 'linux')(
    'that takes no run leaves no other export open (skipped without /proc)',
    async () => {
      const { target } = await open({ fail: () => (refusing ? { status: 503, text: 'away' } : null) })
      let refusing = false
      const run = writeResumedRun(temporaryDirectory(), 'mine')
      const section = ExportsSection.parse({ tensorboard: true, mlflow: target })
      const openSinks = await connectSinks(section, {}, nothing)
      refusing = true
      await expect(openSinks(run, label)).rejects.toThrow('503: away')
      expect(openFiles().filter((path) => path.startsWith(run.root))).toStrictEqual([])
    },
  )

  it('is refused with the server’s words and without the token', async () => {
    const { target } = await open({ token: 'another' })
    const failure = await connectMlflow(target, { MLFLOW_TRACKING_TOKEN: secret }, nothing).catch(
      (error: Error) => error,
    )
    expect(failure).toMatchObject({
      boundary: 'setup',
      message: expect.stringContaining('status 401: who are you?') as string,
    })
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain(secret)
  })

  it('that is not there is an error that names the address, without a password in it', async () => {
    const target = MlflowTarget.parse({ url: 'http://user:hidden@127.0.0.1:1/mlflow' })
    const failure = await connectMlflow(target, {}, nothing).catch((error: Error) => error)
    expect(failure).toMatchObject({ boundary: 'setup' })
    expect((failure as Error).message).toMatch(/^mlflow at http:\/\/127\.0\.0\.1:1\/mlflow: no answer \(.*ECONNREFUSED/)
  })
})

describe('trackio', () => {
  const env = { TRACKIO_WRITE_TOKEN: secret }
  const open = async (version?: number) => {
    const server = await trackioServer(secret, version === undefined ? {} : { version })
    close = server.close
    return { server, target: TrackioTarget.parse({ url: server.url }) }
  }

  it('gets one entry a step under the names of run and attempt, each only once', async () => {
    const { server, target } = await open()
    const sink = await (await connectTrackio(target, env, nothing))({ ...label, attempt: 2 })
    await sink.write(points(0, 2), nothing)
    await sink.write(points(0, 150), nothing)
    expect(server.entries).toHaveLength(150)
    expect(server.entries[149]).toMatchObject({ project: 'drift-grpo', run: 'mine attempt 2', step: 149 })
    expect(server.entries[0]?.config).toMatchObject({ 'grpo.beta': '0.04' })
  })

  it('without the right to write is refused before anything is sent', async () => {
    const { server, target } = await open()
    await expect(connectTrackio(target, {}, nothing)).rejects.toThrow('A write_token is required')
    expect(server.entries).toStrictEqual([])
  })

  it('of another version is refused', async () => {
    const { target } = await open(2)
    await expect(connectTrackio(target, env, nothing)).rejects.toThrow('version 2 of the HTTP API, not 1')
  })
})
