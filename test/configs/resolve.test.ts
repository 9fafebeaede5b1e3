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

  it('refuses an alias inside of what it stands for', () => {
    expect(problems('betas: &a [*a]')).toStrictEqual([
      '  a.yaml:1:1  an alias stands for a value that holds it: write the value out',
    ])
    expect(problems('run: &a {steps: *a}')[0]).toContain('an alias stands for a value that holds it')
  })

  it.each([
    ['lists', `betas: ${'['.repeat(20_000)}`],
    ['maps', `run: ${'{a: '.repeat(20_000)}`],
    ['closed lists', `betas: ${'['.repeat(5000)}${']'.repeat(5000)}`],
  ])('says once that %s are nested too deeply', (_, text) => {
    const found = problems(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain('nested too deeply for a config')
  })

  it('shows the first twenty problems, and says how many more there are', () => {
    const text = Array.from({ length: 400 }, (_, i) => `key${i}: 1`).join('\n')
    expect(problems(text)).toHaveLength(21)
    expect(problems(text).at(-1)).toBe('  … and 380 more')
    expect(() => resolve(text)).toThrow('a.yaml has 400 problems:')
  })

  it('names the command line where the file is not at fault', () => {
    expect(() => resolve('rate: 1', ['rate'])).toThrow(/^the command line has 1 problem:/)
    expect(() => resolve('rate: 1', ['rate=fast'])).toThrow(/^the command line has 1 problem:/)
    expect(() => resolve('rate: 2', ['run.steps=x'])).toThrow(/^a.yaml with the command line has 2 problems:/)
    expect(() => resolve('rate: 2')).toThrow(/^a.yaml has 1 problem:/)
  })

  it('has words for numbers that JSON has none for, and for those that were rounded', () => {
    expect(problems('rate: 1e400')[0]).toContain(
      'rate: a number beyond all bounds is not allowed; expected a number above 0',
    )
    expect(problems('rate: .nan')[0]).toContain('rate: .nan is not allowed')
    expect(problems('run: {steps: 9007199254740993}')[0]).toContain('whole numbers are exact up to 9007199254740991')
  })

  it('refuses a key path without end, and does not repeat it', () => {
    const [found = ''] = problems('', [`run.${'a.'.repeat(9000)}b=1`])
    expect(found).toContain('a key path has at most 16 parts')
    expect(found.length).toBeLessThan(300)
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
