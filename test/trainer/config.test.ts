import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { learningPressure, TrainerConfig } from '../../trainer/config.ts'

const model = { path: 'm' }
const issues = (config: object): string[] =>
  (TrainerConfig.safeParse({ model, ...config }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  )

describe('the trainer sections', () => {
  it('need nothing but a model, and have the published settings otherwise', () => {
    const config = TrainerConfig.parse({ model })
    expect(config.lora).toEqual({ rank: 128, alpha: 256, targetModules: 'all-linear' })
    expect(config).toMatchObject({
      grpo: { beta: 0.04, clipLow: 0.2, clipHigh: 0.2 },
      optimizer: { learningRate: 5e-6 },
      sampling: { groupSize: 4, temperature: 1 },
    })
    expect(config.worker).toMatchObject({ kind: 'spawn', threads: 'auto' })
    expect(learningPressure(config).value).toBeCloseTo(1.28e-3, 12)
  })

  it('say which kind of worker an omitted kind means', () => {
    expect(TrainerConfig.parse({ model, worker: { threads: 3 } }).worker).toMatchObject({ kind: 'spawn', threads: 3 })
    expect(
      TrainerConfig.parse({ model, sampling: { server: { kind: 'vllm', url: 'http://h:1' } } }).sampling.server,
    ).toMatchObject({ model: 'base', tokenEnv: null })
  })

  it.each<[object, string]>([
    [
      { sampling: { temperature: 0.7 } },
      'sampling.temperature: must be 1: the update compares with log-probs of the untempered distribution',
    ],
    [{ grpo: { importanceBounds: [2, 0.5] } }, 'grpo.importanceBounds: the lower bound is above the upper one'],
    [
      { grpo: { perComponent: true, scale: 'batch' } },
      'grpo.scale: must be group when perComponent is true: that option scales by itself',
    ],
    [{ evaluation: { samples: 257 } }, 'evaluation.samples: Too big: expected number to be <=256'],
    [{ run: { id: '../x' } }, 'run.id: letters, digits, dot, underscore and hyphen only'],
  ])('name the key of %j', (config, expected) => {
    expect(issues(config)).toEqual([expected])
  })

  it('refuse unknown keys, at their place', () => {
    expect(issues({ lora: { dropout: 0.1 } })).toEqual(['lora: Unrecognized key: "dropout"'])
    expect(issues({ worker: { kind: 'attach', url: 'http://h:1', python: 'x' } })).toEqual([
      'worker: Unrecognized key: "python"',
    ])
  })

  it('have a JSON Schema for editors, with a description at every key of every section', () => {
    const schema = z.toJSONSchema(TrainerConfig, { io: 'input', target: 'draft-07' }) as {
      properties: Record<string, { properties?: Record<string, { description?: string }> }>
    }
    const missing = Object.entries(schema.properties).flatMap(([section, { properties }]) =>
      Object.entries(properties ?? {}).flatMap(([key, { description }]) =>
        description === undefined ? [`${section}.${key}`] : [],
      ),
    )
    expect(missing).toEqual([])
  })
})
