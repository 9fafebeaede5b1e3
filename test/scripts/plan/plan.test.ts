import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../configs/load.ts'
import type { Config } from '../../../configs/schema.ts'
import { packageRoot } from '../../../data/package-root.ts'
import type { ModelShape } from '../../../scripts/plan/model-shape.ts'
import { copied, loraParameters, makePlan, type PlanFacts } from '../../../scripts/plan/plan.ts'
import { bytes, renderConfig, renderPlan } from '../../../scripts/plan/render.ts'

/** Sizes that the expectations below are computed from, whatever the recipe says. */
const sizes = ['run.steps=100', 'sampling.promptsPerStep=8', 'sampling.concurrency=8']

const configWith = async (...sets: string[]): Promise<Config> =>
  (await loadConfig({ name: 'tiny.yaml', sets: [...sizes, ...sets], cwd: packageRoot() })).config

const linear = [
  { name: 'model.layers.0.self_attn.q_proj', inputs: 8, outputs: 16 },
  { name: 'model.layers.0.mlp.down_proj', inputs: 32, outputs: 8 },
]
const shape: ModelShape = { parameters: 1000, linear, cacheWidth: 10 }
const facts: PlanFacts = { shape, trainPrompts: 400, weightBytes: 4, secondsPerStep: 2 }

describe('the plan of a training', () => {
  it('counts prompts, completions, tokens and epochs', async () => {
    const config = await configWith('run.steps=10', 'model.maxPromptTokens=100', 'model.maxCompletionTokens=50')
    expect(makePlan(config, facts)).toMatchObject({
      completionsPerStep: 32,
      completions: 320,
      epochs: 0.2,
      tokens: { promptsPerStep: 800, completionsPerStep: 1600, total: 24_000 },
      seconds: 20,
    })
  })

  it('counts two matrices of the rank for every targeted layer', async () => {
    const { lora } = await configWith('lora.rank=2')
    expect(loraParameters(lora, shape)).toBe(2 * (8 + 16) + 2 * (32 + 8))
    expect(loraParameters({ ...lora, targetModules: ['q_proj'] }, shape)).toBe(2 * (8 + 16))
  })

  it('adds up memory from weights, adapter with gradient and moments, and cache', async () => {
    const config = await configWith('lora.rank=1', 'model.maxPromptTokens=10', 'model.maxCompletionTokens=5')
    expect(makePlan(config, facts).memory).toStrictEqual({
      weights: 4000,
      copies: 4 * 4000,
      adapter: 64 * 4 * 4,
      cache: 8 * (10 + 4 * 5) * 10 * 4,
    })
  })

  it.each([
    [50_000_000, 4, 'embedded', 4],
    [50_000_001, 4, 'embedded', 5],
    [50_000_001, 4, 'vllm', 2],
    [250_000_001, 4, 'embedded', 0],
    [50_000_001, 2, 'embedded', 0],
  ] as const)(
    'knows how often the worker holds %d weights of %d bytes, sampler %s',
    async (parameters, weightBytes, kind, times) => {
      const config = await configWith(
        `sampling.server={kind: ${kind}${kind === 'vllm' ? ', url: "http://127.0.0.1:1"' : ''}}`,
      )
      const { memory } = makePlan(config, { ...facts, shape: { ...shape, parameters }, weightBytes })
      expect(memory?.copies).toBe(parameters * weightBytes * times)
    },
  )

  it('draws the lines between sizes of models where the worker draws them', () => {
    const read = (file: string): string => readFileSync(join(packageRoot(), 'trainer/python/grpo_worker', file), 'utf8')
    const [, least, most] = /^LEAST, MOST = ([\d_]+), ([\d_]+)$/m.exec(read('packed.py')) ?? []
    const [, merged] = /^MERGE_LIMIT = ([\d_]+)$/m.exec(read('sampler/weights.py')) ?? []
    const numbers = [least, merged, most].map((text) => Number(text?.replaceAll('_', '')))
    expect(numbers).toEqual([copied.byLearnerAbove, copied.byLearnerAbove, copied.most])
  })

  it('says that it does not know what it cannot know', async () => {
    const unknown = { shape: null, trainPrompts: null, weightBytes: 2, secondsPerStep: null } as const
    const plan = makePlan(await configWith(), unknown)
    expect(plan).toMatchObject({ epochs: null, model: null, memory: null, disk: null, seconds: null })
    expect(renderPlan(plan)).toContain('not known')
  })

  it('warns about a learning rate outside the usual range, except for small models', async () => {
    const config = await configWith()
    expect(makePlan(config, facts).warnings).toStrictEqual([])
    const large = { ...shape, parameters: 2_000_000_000 }
    expect(makePlan(config, { ...facts, shape: large }).warnings.join()).toContain('above the range')
    const slow = await configWith('optimizer.learningRate=1e-7')
    expect(makePlan(slow, { ...facts, shape: large }).warnings.join()).toContain('below the range')
    const usual = await configWith('optimizer.learningRate=5e-6', 'lora.alpha=256')
    expect(makePlan(usual, { ...facts, shape: large }).warnings).toStrictEqual([])
  })

  it('is readable', async () => {
    const text = renderPlan(makePlan(await configWith(), facts))
    expect(text).toContain('100 × 8 prompts × 4 completions, 2 epochs')
    expect(text).toContain('about 3 min 20 s, as measured in an earlier run')
  })
})

describe('bytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 kB'],
    [123_456_789, '123 MB'],
    [2.5e12, '2.5 TB'],
    [4e16, '40000 TB'],
  ])('%d is %s', (count, text) => {
    expect(bytes(count)).toBe(text)
  })
})

describe('the resolved config', () => {
  it('shows every value, and where the given ones come from', async () => {
    const { config, provenance } = await loadConfig({ name: 'tiny', sets: ['grpo.beta=0'], cwd: packageRoot() })
    const text = renderConfig(config, provenance)
    expect(text).toContain('clipHigh: 0.2')
    expect(text).toContain('grpo.beta: --set grpo.beta=0')
  })
})
