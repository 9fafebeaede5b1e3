import { assert as assertProperty, dictionary, jsonValue, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { resolveConfig } from '../../configs/resolve.ts'
import { PipelineError } from '../../data/errors.ts'

const schema = z.strictObject({
  run: z.strictObject({ steps: z.int().min(1).default(100), dir: z.string().default('runs') }).prefault({}),
  pool: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('world'), train: z.int().min(1) }),
      z.strictObject({ kind: z.literal('file'), path: z.string() }),
    ])
    .prefault({ kind: 'world', train: 8 }),
  threads: z.union([z.literal('auto'), z.int().min(1)]).default('auto'),
  betas: z.tuple([z.number(), z.number()]).default([0.9, 0.999]),
  rate: z.number().positive().max(1).default(0.5),
})

const resolve = (text: string, sets: string[] = []) => resolveConfig(schema, { name: 'a.yaml', text }, sets)

const problems = (text: string, sets: string[] = []): string[] => {
  try {
    resolve(text, sets)
  } catch (error) {
    if (error instanceof PipelineError && error.boundary === 'config') return error.message.split('\n').slice(1)
    throw error
  }
  return []
}

describe('a config that is right', () => {
  it('fills in defaults, also for an empty file', () => {
    expect(resolve('').config).toMatchObject({ run: { steps: 100 }, threads: 'auto' })
  })

  it('takes a kind from overrides alone, without the default kind’s own keys', () => {
    expect(resolve('', ['pool.kind=file', 'pool.path=x.jsonl']).config.pool).toEqual({ kind: 'file', path: 'x.jsonl' })
  })

  it('says where every value came from', () => {
    const { provenance } = resolve('run:\n  steps: 3\n', ['pool={kind: file, path: x.jsonl}', 'rate=1e-3'])
    expect(provenance).toStrictEqual({
      'run.steps': 'a.yaml:2:10',
      'run.dir': 'default',
      'pool.kind': '--set pool={kind: file, path: x.jsonl}',
      'pool.path': '--set pool={kind: file, path: x.jsonl}',
      threads: 'default',
      'betas.0': 'default',
      'betas.1': 'default',
      rate: '--set rate=1e-3',
    })
  })

  it('is frozen to the last map', () => {
    const { config } = resolve('')
    expect([config, config.run, config.betas].every(Object.isFrozen)).toBe(true)
  })

  it('follows anchors', () => {
    expect(resolve('rate: &r 0.25\nbetas: [*r, *r]').config.betas).toStrictEqual([0.25, 0.25])
  })

  it('takes the last of two flags for one key, and reads its value as YAML', () => {
    expect(resolve('', ['threads=2', 'threads=auto', 'betas=[0.8, 0.9]']).config).toMatchObject({
      threads: 'auto',
      betas: [0.8, 0.9],
    })
  })
})

describe('a config that is wrong', () => {
  it('lists every problem at once, with place, value and what is allowed', () => {
    expect(problems('run:\n  stps: 3\n  steps: 0.5\nthreads: many\nbetas: [1]\nrate: 2\nsteps: 3\n')).toStrictEqual([
      '  a.yaml:3:10  run.steps: 0.5 is not allowed; expected a whole number from 1 up',
      '  a.yaml:2:3  run.stps: unknown key; did you mean steps?',
      '  a.yaml:4:10  threads: "many" is not allowed; expected auto, or a whole number from 1 up',
      '  a.yaml:5:8  betas: [1] is not allowed; expected a list of exactly 2, each a number',
      '  a.yaml:6:7  rate: 2 is not allowed; expected a number above 0 up to 1',
      '  a.yaml:7:1  steps: unknown key; it belongs at run.steps',
    ])
  })

  it('knows which keys belong to the chosen kind', () => {
    expect(problems('pool: {kind: world, train: 3, path: x}')).toStrictEqual([
      '  a.yaml:1:31  pool.path: does not go with kind "world"',
    ])
  })

  it('names the key of a union that has no such kind, and guesses', () => {
    expect(problems('pool:\n  kind: fille')).toStrictEqual([
      '  a.yaml:2:9  pool.kind: "fille" is not allowed; expected world, or file; did you mean file?',
    ])
  })

  it('points at the section where a required value is missing', () => {
    expect(problems('rate: 1\npool:\n  kind: file\n')).toStrictEqual([
      '  a.yaml:2:1  pool.path: is required; expected text',
    ])
  })

  it('tells an empty section from a wrong one', () => {
    expect(problems('run:\n')).toStrictEqual(['  a.yaml:1:5  run: is empty: leave the section out, or give it values'])
  })

  it('names the flag when the flag is at fault', () => {
    expect(problems('rate: 1', ['run.stepz=4', 'rate=fast', 'rate', 'pool.kind=file'])).toStrictEqual([
      '  --set rate  expected key.path=value, such as grpo.beta=0.02',
    ])
    expect(problems('rate: 1', ['run.stepz=4', 'rate=fast', 'pool.kind=file'])).toStrictEqual([
      '  --set run.stepz=4  run.stepz: unknown key; did you mean steps?',
      '  --set pool.kind=file  pool.path: is required; expected text',
      '  --set rate=fast  rate: "fast" is not allowed; expected a number above 0 up to 1',
    ])
  })

  it.each([
    ['a duplicate key', 'rate: 1\nrate: 1\n', /a.yaml:2:1 {2}Map keys must be unique/],
    ['an unknown tag', 'rate: !big 1\n', /a.yaml:1:7 {2}Unresolved tag: !big/],
    ['a second document', 'rate: 1\n---\nrate: 1\n', /a.yaml:2:1 {2}Source contains multiple documents/],
    ['a list at the top', '- 1\n', /a.yaml:1:1 {2}the file: \[1\] is not allowed; expected a map/],
    ['an alias without an anchor', 'rate: *x\n', /a.yaml:1:\d+ {2}.*x/],
  ])('refuses %s', (_, text, message) => {
    const [first = ''] = problems(text)
    expect(first).toMatch(message)
  })

  it('uses the words that a schema has for its own rule', () => {
    const own = z.strictObject({
      id: z.string().regex(/^[a-z]+$/, 'small letters only'),
      one: z.literal(1, 'must be 1, always'),
    })
    expect(() => resolveConfig(own, { name: 'b.yaml', text: 'id: A\none: 2' })).toThrow(
      /id: "A" is not allowed: small letters only\n.*one: 2 is not allowed: must be 1, always/,
    )
  })

  it('refuses aliases that multiply without end', () => {
    const lines = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}]`)
    expect(problems(['a0: &a0 [1]', ...lines].join('\n'))[0]).toMatch(/a.yaml:1:1 {2}.*alias/i)
  })
})

describe('any text and any flag', () => {
  it('resolve or fail with a config error, never with anything else', () => {
    assertProperty(property(string({ unit: 'binary' }), string(), (text, set) => void problems(text, [set])))
    assertProperty(
      property(dictionary(string(), jsonValue()), (tree) => void problems(JSON.stringify({ ...tree, pool: tree }))),
    )
  })
})
