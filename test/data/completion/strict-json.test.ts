import { assert, jsonValue, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonNumber, parseJsonObject, readJsonObject, type JsonValue } from '../../../data/completion/strict-json.ts'

const plain = (value: JsonValue): unknown => {
  if (value instanceof JsonNumber) return Number(value.text)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]))
  return Array.isArray(value) ? value.map(plain) : value
}

const reasonOf = (text: string): string => {
  const result = parseJsonObject(text)
  return result.ok ? 'valid' : result.reason
}

const parsesAsObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

describe('parseJsonObject', () => {
  it('reads whatever JSON.stringify writes as JSON.parse does', () => {
    assert(
      property(jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify({ value, list: [value] }, null, 1)
        const result = parseJsonObject(text)
        expect(result.ok && plain(result.value)).toStrictEqual(JSON.parse(text))
      }),
    )
  })

  it('refuses everything that JSON.parse refuses', () => {
    const unit = string({ unit: 'grapheme-ascii', maxLength: 12 })
    assert(
      property(unit, unit, (inside, after) => {
        const text = `{"a":${inside}}${after}`
        const known = /duplicate|containers/u
        expect(parsesAsObject(text)).toBe(reasonOf(text) === 'valid' || known.test(reasonOf(text)))
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1e}',
    '{"a":0x10}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":tru}',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '{"a":[1,]}',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":"\t"}',
    String.raw`{"a":"\x41"}`,
    String.raw`{"a":"\u12g4"}`,
    '{"a":1}{',
    '{"a":1} x',
    '\u00a0{"a":1}',
    '\ufeff{"a":1}',
    '{"a":1',
    '{"a',
    '{',
    '',
    '[]',
    '"{}"',
    'null',
    '1',
    '/**/{}',
    '{"a":1}//',
  ])('refuses %j', (text) => {
    expect(reasonOf(text)).not.toBe('valid')
  })

  it('accepts JSON white space around and inside the object', () => {
    expect(reasonOf('\r\n\t {\n"a" :\t[ ] , "b" : { } }\n')).toBe('valid')
  })

  it('refuses duplicate keys at any level, compared after unescaping', () => {
    expect(reasonOf('{"a":1,"a":1}')).toMatch(/duplicate key/u)
    expect(reasonOf(String.raw`{"a":1,"\u0061":2}`)).toMatch(/duplicate key/u)
    expect(reasonOf('{"a":[{"b":{"c":1,"c":2}}]}')).toMatch(/duplicate key/u)
    expect(reasonOf('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}')).toBe('valid')
  })

  it('gives inherited names no meaning', () => {
    const result = parseJsonObject('{"__proto__":{"x":1},"constructor":2}')
    expect(result.ok && [...result.value.keys()]).toStrictEqual(['__proto__', 'constructor'])
    expect(result.ok && result.value.get('toString')).toBeUndefined()
  })

  it('keeps numbers as written', () => {
    const result = parseJsonObject('{"a":7.0,"b":-0,"c":1e400}')
    expect(result.ok && [...result.value.values()]).toStrictEqual(
      ['7.0', '-0', '1e400'].map((text) => new JsonNumber(text)),
    )
  })

  it('allows 32 containers, the root included, and not one more', () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect(reasonOf(nested(32))).toBe('valid')
    expect(reasonOf(nested(33))).toMatch(/containers deep/u)
  })

  it.each(['[', '{"a":'])('survives a million times %j', (bracket) => {
    expect(reasonOf(`{"a":${bracket.repeat(1_000_000)}`)).toMatch(/containers deep/u)
  })
})

describe('readJsonObject', () => {
  it('reads the object at a position and says where it ends', () => {
    expect(readJsonObject('see {"a":1} there', 4)).toMatchObject({ ok: true, end: 11 })
    expect(readJsonObject('see {"a":1} there', 0)).toMatchObject({ ok: false })
  })
})
