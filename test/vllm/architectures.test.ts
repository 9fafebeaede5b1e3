import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { python, temporaryDirectory } from '../support/tiny-training.ts'
import { samplerOf, TestLearner } from './learner.ts'
import { noVllm, startServer, vllmVersion } from './server.ts'

const tests = join(packageRoot(), 'trainer/python/tests')

const makeModel = (architecture: string): string => {
  const directory = join(temporaryDirectory(), architecture)
  const env = { ...process.env, PYTHONPATH: [join(tests, '..'), tests].join(':') }
  const script = join(packageRoot(), 'test/vllm/make_architecture.py')
  execFileSync(python, [script, architecture, directory], { env, stdio: 'pipe' })
  return directory
}

type Lists = readonly (readonly number[])[]

const worst = (a: Lists, b: Lists): number =>
  Math.max(...a.flatMap((row, i) => row.map((value, j) => Math.abs(value - (b[i]?.[j] ?? Number.NaN)))))

describe.skipIf(noVllm)(`an adapter that the worker wrote, in vLLM ${vllmVersion} and in plain PEFT`, () => {
  // Llama: test/vllm/sampler.test.ts, and the worker's own tests of plain PEFT.
  it.each(['qwen2', 'granite'])(
    'gives the log-probs of the worker: %s',
    async (architecture) => {
      const model = makeModel(architecture)
      const learner = await TestLearner.start(model, temporaryDirectory())
      try {
        await learner.update()
        await learner.update()
        const adapter = await learner.client.saveAdapter('trained')
        const server = await startServer({ model, directory: temporaryDirectory(), contextTokens: 512 })
        try {
          const sampler = samplerOf(server)
          await sampler.load('trained', adapter)
          const promptTokenIds = [10, 60, 61, 62, 7]
          const request = { promptTokenIds, count: 4, maxTokens: 32, temperature: 1, seed: 3 }
          const completions = await sampler.sample({ ...request, policy: 'trained' })
          const items = completions.map(({ tokenIds }) => ({ promptTokenIds, tokenIds }))
          const sampled = completions.map(({ logprobs }) => logprobs)
          const jobs = [adapter.location, null].map((path) => ({ model, adapter: path, items }))
          const plain = execFileSync(python, ['-I', join(tests, 'plain_peft.py')], { input: JSON.stringify(jobs) })
          const [peft = [], base = []] = JSON.parse(plain.toString()) as Lists[]
          expect(worst(sampled, await learner.client.logprobs('current', items))).toBeLessThan(1e-4)
          expect(worst(sampled, peft)).toBeLessThan(1e-4)
          expect(worst(sampled, base)).toBeGreaterThan(0.1)
        } finally {
          await server.stop()
        }
      } finally {
        await learner.stop()
      }
    },
    1_800_000,
  )
})
