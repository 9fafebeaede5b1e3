import { describe, expect, it } from 'vitest'
import { shippedConfigs } from '../../configs/find.ts'
import { inputSchema } from '../../configs/json-schema.ts'
import { loadConfig } from '../../configs/load.ts'
import { Config } from '../../configs/schema.ts'
import { packageRoot } from '../../data/package-root.ts'

const load = (name: string, sets: string[] = []) => loadConfig({ name, sets, cwd: packageRoot() })

describe.each(shippedConfigs())('the shipped config %s', (name) => {
  it('loads', async () => {
    const { config, provenance } = await load(name)
    expect(config.model.path).not.toBe('')
    expect(provenance['model.path']).toMatch(new RegExp(`^configs/${name}:\\d+:\\d+$`))
  })

  it('can be used with a worker that runs already', async () => {
    const { config } = await load(name, ['worker.kind=attach', 'worker.url=http://127.0.0.1:1'])
    expect(config.worker).toMatchObject({ kind: 'attach', url: 'http://127.0.0.1:1' })
  })
})

describe('rules across sections', () => {
  it('are all checked, and name the value that breaks them', async () => {
    const sets = ['pool.train=5', 'pool.heldout=5', 'sampling.promptsPerStep=6', 'evaluation.prompts=6']
    await expect(load('tiny.yaml', sets)).rejects.toThrow(
      /--set sampling.promptsPerStep=6 {2}.*at most pool.train \(5\)\n.*--set evaluation.prompts=6 {2}.*at most pool.heldout \(5\)/,
    )
  })

  it('refuse a reward that can only be zero', async () => {
    const { config } = await load('tiny.yaml')
    const zeros = Object.keys(config.rewards.maxima).map((name) => `${name}: 0`)
    await expect(load('tiny.yaml', [`rewards.maxima={${zeros.join(', ')}}`])).rejects.toThrow(
      'no component can give any reward',
    )
  })
})

describe('the JSON Schema for editors', () => {
  it('names every section and its keys', () => {
    const { properties = {} } = inputSchema(Config)
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining(['run', 'model', 'pool', 'rewards', 'judge', 'grpo']),
    )
    expect(Object.keys(properties['grpo']?.properties ?? {})).toContain('clipLow')
  })
})
