import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert as assertProperty, array, constantFrom, oneof, property, string, tuple } from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { resolveConfig } from '../../configs/resolve.ts'
import { Config } from '../../configs/schema.ts'
import { PipelineError } from '../../data/errors.ts'
import { packageRoot } from '../../data/package-root.ts'
import { damaged } from '../support/spoilt.ts'

vi.setConfig({ testTimeout: 120_000 })

const directory = join(packageRoot(), 'configs')
const shipped = readdirSync(directory)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(join(directory, name), 'utf8'))

/** A config, or the error of one: every problem has its place, and a hostile file does not make a long message. */
const read = (text: string, sets: readonly string[] = []): 'config' | PipelineError => {
  try {
    resolveConfig(Config, { name: 'x.yaml', text }, sets)
    return 'config'
  } catch (error) {
    expect(error).toBeInstanceOf(PipelineError)
    expect(error).toMatchObject({ boundary: 'config' })
    expect((error as PipelineError).message.length).toBeLessThan(20_000)
    return error as PipelineError
  }
}

const values = [
  ...['null', 'true', '-1', '1e400', '.inf', '.nan', '0x7fffffffffffffff', '1'.repeat(5000), '"\\u0000"', '"\\ud800"'],
  ...[
    '[]',
    '{}',
    '{__proto__: {x: 1}}',
    '{constructor: {prototype: 1}}',
    '!!binary aGk=',
    '!!js/function x',
    '*nowhere',
  ],
  ...['&a [*a]', '<<: *x', '|\n  text', '>-\n  text', '\t', '- - - -', '? [a]\n  : b', '"../../etc"', '2026-01-01'],
]
const keys = [
  'run',
  'model',
  'judge',
  'rewards',
  'pool',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '""',
]

describe('a spoilt config', () => {
  it('is a config or an error of the config', () => {
    const line = tuple(constantFrom(...shipped), constantFrom(...values)).chain(([text, value]) => {
      const lines = text.split('\n')
      const whole = constantFrom(...lines.keys())
      return whole.map((i) => lines.with(i, `${/^[^:]*:/.exec(lines[i] ?? '')?.[0] ?? 'x:'} ${value}`).join('\n'))
    })
    const flow = tuple(constantFrom(...keys), constantFrom(...keys), constantFrom(...values)).map(
      ([outer, inner, value]) => `${outer}:\n  ${inner}: ${value}\n`,
    )
    const cut = constantFrom(...shipped).chain(damaged)
    const soup = array(oneof(constantFrom(...values, ...keys, ':', '- ', '\n', '&a', '*a'), string({ unit: 'binary' })))
    assertProperty(
      property(
        oneof(
          line,
          flow,
          cut,
          soup.map((parts) => parts.join('')),
        ),
        (text) => void read(text),
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    [
      'aliases of aliases',
      `a: &a [x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*a, *${i ? `b${i - 1}` : 'a'}, *${i ? `b${i - 1}` : 'a'}]`).join('\n')}\n`,
    ],
    ['a value that holds itself', 'run: &a\n  id: *a\n'],
    ['flow nested deep', `run: ${'['.repeat(50_000)}`],
    ['maps nested deep', Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['a key twice', 'run: {}\nrun: {}\n'],
    ['two documents', 'run: {}\n---\nrun: {}\n'],
    ['a prototype', '__proto__:\n  run: {}\n'],
  ])('with %s is refused', (_, text) => {
    expect(read(text)).not.toBe('config')
    expect(Reflect.get({}, 'run')).toBeUndefined()
  })

  it.each([
    '__proto__.x=1',
    'run.__proto__.steps=1',
    'constructor.prototype.x=1',
    'run..id=1',
    '=',
    'run',
    `run.id=${'['.repeat(9999)}`,
  ])('cannot be made by an override: --set %s', (set) => {
    expect(read('', [set])).not.toBe('config')
    expect(Reflect.get({}, 'x')).toBeUndefined()
  })
})
