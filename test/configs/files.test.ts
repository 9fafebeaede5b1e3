import { describe, expect, it } from 'vitest'
import { shippedConfigs } from '../../configs/find.ts'
import { inputSchema } from '../../configs/json-schema.ts'
import { loadConfig } from '../../configs/load.ts'
import { resolveConfig } from '../../configs/resolve.ts'
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

describe('an override inside a table that must be complete', () => {
  it('changes one entry of the default table, and says of the others that they are defaults', async () => {
    const before = (await load('tiny.yaml')).config.rewards.maxima
    const { config, provenance } = await load('tiny.yaml', ['rewards.maxima.xml_count=0.4', 'rewards.maxima.judge=2'])
    expect(config.rewards.maxima).toEqual({ ...before, xml_count: 0.4, judge: 2 })
    expect(provenance).toMatchObject({
      'rewards.maxima.xml_count': '--set rewards.maxima.xml_count=0.4',
      'rewards.maxima.json_valid': 'default',
    })
  })

  it('is refused at its flag where the entry does not exist or has a bad value', async () => {
    await expect(load('tiny.yaml', ['rewards.maxima.xml_cont=0.4'])).rejects.toThrow(
      /--set rewards.maxima.xml_cont=0.4 {2}rewards.maxima.xml_cont: .*did you mean xml_count/,
    )
    await expect(load('tiny.yaml', ['rewards.maxima.judge=-1'])).rejects.toThrow(
      /--set rewards.maxima.judge=-1 {2}rewards.maxima.judge: -1 is not allowed/,
    )
  })

  it('does not complete a table that is given in part, by the file or by another override', async () => {
    const partial = ['rewards.maxima={judge: 1}', 'rewards.maxima.xml_count=0.4']
    await expect(load('tiny.yaml', partial)).rejects.toThrow(/rewards.maxima.json_valid: is required/)
    const file = { name: 'a.yaml', text: 'model: {path: m}\nrewards:\n  maxima:\n    judge: 1\n' }
    expect(() => resolveConfig(Config, file, ['rewards.maxima.xml_count=0.4'])).toThrow(
      /rewards.maxima.json_valid: is required/,
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
