import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import type { Completion } from '../../data/records/rollout.ts'
import { SamplingSection } from '../../trainer/config.ts'
import { Publisher } from '../../trainer/publish.ts'
import type { Sampler } from '../../trainer/sampler.ts'
import type { VllmSampler } from '../../trainer/vllm-sampler.ts'
import type { EngineProcess } from '../../trainer/vllm-process.ts'
import { HttpClient } from '../contract/http-client.ts'
import { samplerContract } from '../contract/sampler.contract.ts'
import { python, temporaryDirectory } from '../support/tiny-training.ts'
import { TestLearner, samplerOf } from './learner.ts'
import { noVllm, startServer, token, vllmVersion } from './server.ts'

/** Forwards everything but what is replaced. */
const withFault = (real: Sampler, fault: Partial<Sampler>): Sampler =>
  new Proxy(real, {
    get: (target, key) => {
      const value: unknown = Reflect.get(fault, key) ?? Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })

describe.skipIf(noVllm)(`vLLM ${vllmVersion} on a random Llama`, () => {
  const models = join(temporaryDirectory(), 'models')
  let server: EngineProcess

  beforeAll(async () => {
    execFileSync(python, [join(packageRoot(), 'test/contract/make_models.py'), models], { stdio: 'pipe' })
    server = await startServer({ model: join(models, 'model'), directory: temporaryDirectory(), contextTokens: 1024 })
  }, 1_800_000)
  afterAll(async () => {
    await server?.stop()
  })

  describe('keeps the contract of samplers', () => {
    samplerContract(() => ({ http: new HttpClient(server.url, token), model: 'base', models }))
  })

  it('says which version it is', async () => {
    const answer = await new HttpClient(server.url, token).get('/version')
    expect(JSON.parse(answer.text)).toEqual({ version: expect.stringContaining(vllmVersion) as unknown })
  })

  describe('as the sampler of a worker', () => {
    let learner: TestLearner
    let sampler: VllmSampler
    const canaries = [Array.from({ length: 32 }, (_, i) => 3 + ((i * 17) % 200))]
    let attempt = 0

    /** Every test has names of its own, like the attempts of a run. */
    const publisher = (fault: Partial<Sampler> = {}): Publisher =>
      new Publisher({
        ...{ learner: learner.client, sampler: withFault(sampler, fault), runId: learner.run.id, canaries },
        ...{ attempt: ++attempt, dtype: 'float32', onWarning: () => undefined },
      })

    const sample = async (policy: string, promptTokenIds: readonly number[]): Promise<Completion[]> =>
      await sampler.sample({ policy, promptTokenIds, count: 4, maxTokens: 32, temperature: 1, seed: 5 })

    /** Completions as an update takes them. */
    const groupOf = (promptTokenIds: readonly number[], completions: readonly Completion[]) => ({
      promptTokenIds: [...promptTokenIds],
      completions: completions.map(({ tokenIds, logprobs }, i) => ({
        ...{ tokenIds, samplerLogprobs: logprobs, advantage: i % 2 === 0 ? 1 : -1 },
      })),
    })

    beforeAll(async () => {
      learner = await TestLearner.start(join(models, 'model'), temporaryDirectory())
      sampler = samplerOf(server)
      await learner.update()
    }, 1_800_000)
    afterAll(async () => {
      await learner?.stop()
    })

    it('is proved with every version, and lets go of those two back', async () => {
      const own = publisher()
      expect((await own.openBase()).name).toBe('base')
      const names: string[] = []
      for (let i = 0; i < 4; i++) {
        if (i > 0) await learner.update()
        const published = await own.publish(learner.version)
        expect(published.difference).toBeLessThan(1e-4)
        expect(published.moved).toBeGreaterThan(1e-2)
        names.push(published.policy.name)
      }
      expect((await sampler.policies()).filter((name) => !name.startsWith('contract'))).toEqual([
        'base',
        ...names.slice(-2),
      ])
    })

    it('samples by the log-probs of the worker', async () => {
      const { policy } = await publisher().publish(learner.version)
      const prompt = [10, 20, 30, 40]
      const { mismatch } = await learner.update([groupOf(prompt, await sample(policy.name, prompt))])
      expect(mismatch.meanAbs).toBeLessThan(1e-4)
      expect(mismatch.maxAbs).toBeLessThan(1e-3)
    })

    it('is caught with a wrong adapter under the right name', async () => {
      const wrong: Sampler['load'] = (policy, adapter) =>
        sampler.load(policy, { ...adapter, location: join(models, 'adapter-1') })
      await expect(publisher({ load: wrong }).publish(learner.version)).rejects.toMatchObject({
        boundary: 'sampler',
        message: expect.stringMatching(
          /does not serve policy-vllm-a\d+-\d+ as it was trained: its log-probs differ/,
        ) as unknown,
      })
    })

    it('is caught when an adapter was never loaded', async () => {
      await expect(publisher({ load: async () => undefined }).publish(learner.version)).rejects.toMatchObject({
        boundary: 'sampler',
        message: expect.stringMatching(/does not list policy-vllm-a\d+-\d+/) as unknown,
      })
      // Should it be listed all the same, sampling and scoring say what is the matter.
      await expect(sampler.tokenLogprobs('policy-vllm-never', canaries)).rejects.toMatchObject({
        boundary: 'sampler',
        message: expect.stringContaining('`policy-vllm-never` does not exist') as unknown,
      })
    })

    it('is caught with the weights of the version before under the new name', async () => {
      const own = publisher()
      const before = await own.publish(learner.version)
      await learner.update()
      const location = join(learner.run.adapters, before.directory)
      const stale: Sampler['load'] = (policy, adapter) => sampler.load(policy, { ...adapter, location })
      const broken = publisher({ load: stale })
      await broken.openBase()
      await expect(broken.publish(learner.version)).rejects.toMatchObject({
        boundary: 'sampler',
        message: expect.stringContaining('as it was trained') as unknown,
      })
    })

    it('is caught when a name is used again and old results of its prompts are served', async () => {
      const name = 'policy-vllm-reused'
      // More than one block of the prefix cache, which holds 128 tokens on a CPU.
      const prompt = Array.from({ length: 300 }, (_, i) => 3 + ((i * 29) % 200))
      const old = await learner.client.saveAdapter('old')
      await sampler.load(name, old)
      await sample(name, prompt)
      await sampler.unload(name)
      await learner.update()
      const current = await learner.client.saveAdapter('current')
      await sampler.load(name, current)
      const { mismatch } = await learner.update([groupOf(prompt, await sample(name, prompt))])
      // 0.32 names its cache by the adapter's path too. Names and paths of a run are never used twice.
      const isCaught = mismatch.meanAbs > SamplingSection.parse({}).mismatchLimit
      expect([isCaught, mismatch.meanAbs < 1e-4]).toEqual(vllmVersion === '0.27.1' ? [true, false] : [false, true])
      await sampler.unload(name)
    })
  })
})
