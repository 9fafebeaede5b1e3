import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../configs/load.ts'
import { packageRoot } from '../../../data/package-root.ts'
import { knownModels } from '../../../trainer/memory/known-models.ts'
import { readDims } from '../../../trainer/memory/model-dims.ts'
import { engineRank, logitChunk, planMemory, type MemoryFacts, type MemoryPlan } from '../../../trainer/memory/plan.ts'

const recipes = ['granite-2b.yaml', 'granite-2b-hardened.yaml', 'qwen-1.5b.yaml']
const judge = readDims(knownModels['Qwen/Qwen3-14B-AWQ'])

const planOf = async (name: string, sets: string[] = [], facts: Partial<MemoryFacts> = {}) => {
  const { config } = await loadConfig({ name, sets, cwd: packageRoot() })
  return planMemory(config, { gpu: null, policy: readDims(knownModels[config.model.path]), judge, ...facts })
}
const must = (plan: MemoryPlan | null): MemoryPlan => {
  if (plan === null) throw new Error('there is no plan')
  return plan
}

describe.each(recipes)('the memory plan of %s', (name) => {
  it('fits the reference GPU, with all three processes and the reserve', async () => {
    const plan = must(await planOf(name))
    expect(plan.problems).toEqual([])
    expect(plan.shares.map(({ process }) => process)).toEqual(['judge server', 'policy server', 'worker'])
    const worker = plan.shares.find(({ process }) => process === 'worker')
    expect(worker?.fraction).toBeLessThanOrEqual(0.35)
    expect(plan.shares.every(({ sequences }) => sequences === null || sequences >= 4)).toBe(true)
  })

  it('does not fit a GPU of 40 GiB, and says by how much', async () => {
    const { problems } = must(await planOf(name, ['gpu.memoryGiB=40']))
    expect(problems.join('\n')).toMatch(/the judge server needs 12\.\d GiB .*fraction 0.3 of the GPU is 12.0 GiB/)
  })
})

describe('a memory plan', () => {
  it('counts chunks of logits as large as the worker’s', () => {
    const source = readFileSync(join(packageRoot(), 'trainer/python/grpo_worker/logprobs.py'), 'utf8')
    const bits = /^CHUNK_ELEMENTS = 1 << (\d+)$/m.exec(source)?.[1]
    expect(2 ** Number(bits)).toBe(logitChunk)
  })

  it('refuses fractions that leave no reserve', async () => {
    const { problems } = must(await planOf('granite-2b.yaml', ['worker.memoryFraction=0.4']))
    expect(problems).toEqual([
      expect.stringMatching(/worker 0.4 and the reserve 0.05 add up to 1.03 of a GPU of 79.0 GiB/),
    ])
  })

  it('allows fractions that use all but the reserve', async () => {
    expect(must(await planOf('granite-2b.yaml', ['worker.memoryFraction=0.37'])).problems).toEqual([])
  })

  it('refuses micro-batches whose activations the worker cannot hold', async () => {
    const { problems } = must(await planOf('granite-2b.yaml', ['worker.tokenBudget=13200']))
    expect(problems).toEqual([expect.stringMatching(/the worker needs .*activations of 13200 tokens .* GiB/)])
  })

  it('counts a completion that is longer than the token budget all the same', async () => {
    const needs = must(await planOf('granite-2b.yaml', ['worker.tokenBudget=1'])).shares.at(-1)?.needs ?? {}
    expect(Object.keys(needs)).toContain('activations of 2300 tokens')
  })

  it('counts the cache of the worker when it samples itself', async () => {
    const sets = ['sampling.server={kind: embedded}', 'judge={kind: reference}', 'worker.device=cuda']
    const { shares } = must(await planOf('granite-2b.yaml', sets))
    expect(shares).toHaveLength(1)
    // 16 groups of one prompt and four completions, two bytes a number
    expect(shares[0]?.needs?.['cache while sampling']).toBe(16 * (1600 + 4 * 700) * 40_960 * 2)
  })

  it('uses the GPU that is there rather than the reference, unless the config names a size', async () => {
    const gpu = { name: 'H', totalBytes: 140 * 2 ** 30 }
    expect(must(await planOf('granite-2b.yaml', [], { gpu })).gpu).toEqual({
      name: 'H',
      bytes: gpu.totalBytes,
      found: true,
    })
    expect(must(await planOf('granite-2b.yaml', ['gpu.memoryGiB=80'], { gpu })).gpu.bytes).toBe(80 * 2 ** 30)
  })

  it('warns where a server cannot hold what will be asked at a time, or is of unknown size', async () => {
    expect(must(await planOf('granite-2b.yaml')).warnings).toEqual([
      expect.stringMatching(/the judge server can hold \d+ of 16 sequences/),
    ])
    expect(must(await planOf('granite-2b.yaml', [], { judge: null })).warnings).toEqual([
      'the size of the judge server’s model is not known: its share of the GPU is not checked',
    ])
  })

  it('does not exist where nothing uses a GPU', async () => {
    expect(await planOf('tiny.yaml')).toBeNull()
    const attached = ['worker.kind=attach', 'worker.url=http://127.0.0.1:1']
    expect(await planOf('tiny.yaml', attached, { gpu: { name: 'H', totalBytes: 1 } })).toBeNull()
  })

  it('knows the ranks that vLLM can be started for', () => {
    expect([1, 2, 8, 9, 128, 129, 512].map(engineRank)).toEqual([1, 8, 8, 16, 128, 256, 512])
  })
})
