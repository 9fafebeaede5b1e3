import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UpdateBatch } from '../../data/records/update.ts'
import { sessionRequest } from '../../trainer/attempt.ts'
import { exchange } from '../../trainer/http.ts'
import { lossConfig } from '../../trainer/pack.ts'
import { Publisher } from '../../trainer/publish.ts'
import type { Learner } from '../../trainer/learner.ts'
import type { Sampler } from '../../trainer/sampler.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { attached } from '../../trainer/supervision/attached.ts'
import { Endpoints } from '../../trainer/supervision/endpoints.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import { startWorker, type WorkerProcess } from '../../trainer/worker-process.ts'
import { makeTinyModel, noPython, temporaryDirectory, tinyConfig } from '../support/tiny-training.ts'

/** Forwards everything but what is replaced: a real server with one fault. */
const withFault = <T extends object>(real: T, fault: Partial<T>): T =>
  new Proxy(real, {
    get: (target, key) => {
      const value: unknown = Reflect.get(fault, key) ?? Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })

describe.skipIf(noPython)('delivering adapters from a real worker', () => {
  const run = new RunDirectory(temporaryDirectory(), 'delivery')
  let worker: WorkerProcess | undefined
  let learner: Learner
  let sampler: Sampler
  let workerPid = 0
  let version = 0
  const canaries = [
    [60, 61, 62, 63, 64],
    [70, 71, 72],
  ]

  const publisher = (parts: { learner?: Learner; sampler?: Sampler } = {}, attempt = 1): Publisher =>
    new Publisher({
      learner,
      sampler,
      runId: run.id,
      attempt,
      canaries,
      dtype: 'float32',
      onWarning: () => undefined,
      ...parts,
    })

  /** One optimizer step on made-up tokens. */
  const update = async (): Promise<number> => {
    const completion = (advantage: number, first: number) => ({
      tokenIds: [first, 40, 41],
      advantage,
      samplerLogprobs: [-5, -5, -5],
    })
    const batch: UpdateBatch = {
      runId: run.id,
      step: version,
      fromVersion: version,
      tokenBudget: 512,
      loss: lossConfig(tinyConfig('m', 'r').grpo, { maxCompletionTokens: 8 }),
      groups: [{ promptTokenIds: [10, 11, 12], completions: [completion(1, 30), completion(-1, 31)] }],
    }
    const result = await learner.update(batch)
    // The same batch again is the same step, not another one.
    expect(await learner.update(batch)).toEqual(result)
    version = result.version
    return version
  }

  /** What a restart does to a server's adapters: they are gone, and no client was told. */
  const forget = async (name: string): Promise<void> => {
    const { url, token } = worker ?? { url: '', token: '' }
    const body = { lora_name: name }
    const reply = await exchange({
      method: 'POST',
      url: `${url}/v1/unload_lora_adapter`,
      body,
      token,
      timeoutMs: 60_000,
    })
    expect(reply.status).toBe(200)
  }

  beforeAll(async () => {
    const config = tinyConfig(makeTinyModel(), run.root)
    if (config.worker.kind !== 'spawn') throw new Error('the tests start their own worker')
    const { url, token, gone, baseName, pid } = (worker = await startWorker({
      config: config.worker,
      model: config.model.path,
      maxContext: 200,
      roots: [run.adapters, run.checkpoints],
      logPath: run.log('worker'),
    }))
    workerPid = pid
    const common = { url, token, gone, requestTimeoutMs: 120_000 }
    learner = new WorkerClient({ ...common, adaptersDir: run.adapters, statesDir: run.checkpoints })
    sampler = new VllmSampler({ ...common, baseName })
    await learner.open(sessionRequest(config, run.id))
    await update()
  }, 600_000)

  afterAll(async () => {
    await worker?.stop()
  })

  it('proves a version before anybody samples from it, and lets go of older ones', async () => {
    const own = publisher()
    expect(await own.openBase()).toEqual({ version: 0, name: 'base' })
    const names: string[] = []
    for (let i = 0; i < 4; i++) {
      const published = await own.publish(i === 0 ? version : await update())
      expect(published.moved).toBeGreaterThan(published.difference)
      names.push(published.policy.name)
    }
    expect(await sampler.policies()).toEqual(['base', ...names.slice(-2)])
  }, 120_000)

  it('fails when the adapter directory is gone before it is loaded', async () => {
    const saveAdapter: Learner['saveAdapter'] = async (name) => {
      const saved = await learner.saveAdapter(name)
      rmSync(saved.location, { recursive: true })
      return saved
    }
    const broken = publisher({ learner: withFault(learner, { saveAdapter }) }, 2)
    await expect(broken.publish(version)).rejects.toMatchObject({
      boundary: 'sampler',
      message: expect.stringMatching(/loading adapter policy-delivery-a2-.*No adapter found/) as string,
    })
  }, 120_000)

  it('fails when the server accepts the load and goes on serving the version before', async () => {
    const previous = `policy-delivery-${String(version).padStart(6, '0')}`
    const own = publisher({}, 3)
    await own.publish(version)
    await update()
    // What a server does that keeps old weights, or an old prefix cache, under a new name.
    const deaf = withFault(sampler, {
      tokenLogprobs: (_, sequences, signal) => sampler.tokenLogprobs(previous, sequences, signal),
    })
    const broken = publisher({ sampler: deaf }, 4)
    await expect(broken.publish(version)).rejects.toMatchObject({
      boundary: 'sampler',
      message: expect.stringContaining('does not serve policy-delivery-a4-') as string,
    })
  }, 120_000)

  it('fails when the server says that it has loaded an adapter and does not list it', async () => {
    const forgetful = withFault(sampler, { load: async () => undefined })
    await expect(publisher({ sampler: forgetful }, 5).publish(version)).rejects.toThrow(
      /does not list policy-delivery-a5-/,
    )
  }, 120_000)

  it('refuses a sampler whose base model is another one', async () => {
    const other = withFault(sampler, {
      tokenLogprobs: async (_, sequences) => sequences.map((ids) => ids.slice(1).map(() => -1)),
    })
    await expect(publisher({ sampler: other }).openBase()).rejects.toThrow(/does not serve base as it was trained/)
  }, 120_000)

  it('proves an adapter again that a restarted server had to load again, and refuses other weights', async () => {
    const { url, token } = worker ?? { url: '', token: '' }
    const client = new VllmSampler({ url, token, requestTimeoutMs: 120_000, baseName: 'base' })
    const lossy = new Endpoints([attached({ url, client })])
    const notices: string[] = []
    lossy.watch(({ text }) => notices.push(text))
    const own = publisher({ sampler: lossy }, 9)
    await own.openBase()
    const older = await own.publish(version)
    const { policy, directory } = await own.publish(await update())
    const request = { policy: policy.name, promptTokenIds: [10, 11], count: 2, maxTokens: 4, temperature: 1, seed: 256 }
    const before = await lossy.sample(request)

    await forget(policy.name)
    expect(await lossy.sample(request)).toEqual(before)
    expect(notices.at(-1)).toMatch(`proved: base, ${older.policy.name}, ${policy.name}`)

    const weights = (name: string): string => join(run.adapters, name, 'adapter_model.safetensors')
    copyFileSync(weights(older.directory), weights(directory))
    await forget(policy.name)
    await expect(lossy.sample(request)).rejects.toMatchObject({
      boundary: 'sampler',
      message: expect.stringContaining(`does not serve ${policy.name} as it was trained`) as string,
    })
    await lossy.close()
  }, 120_000)

  it('ends all calls in flight with the last log lines when the worker dies', async () => {
    const request = { policy: 'base', promptTokenIds: [10, 11], count: 16, maxTokens: 190, temperature: 1 }
    const running = [1, 2, 3].map((seed) => sampler.sample({ ...request, seed: seed * 256 }))
    const results = Promise.allSettled(running)
    process.kill(-workerPid, 'SIGKILL')
    for (const result of await results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: {
          boundary: 'worker',
          message: expect.stringMatching(/ended unexpectedly \(signal SIGKILL\)[^]*grpo_worker/) as string,
        },
      })
    }
    await expect(learner.info()).rejects.toMatchObject({ boundary: 'worker' })
    expect(readFileSync(join(run.root, 'logs/worker.log'), 'utf8')).toContain('parameters')
  }, 120_000)
})
