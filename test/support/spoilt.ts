import { array, constantFrom, type Arbitrary, double, oneof, string, tuple } from 'fast-check'

/** Texts of JSON, so that also what no value of ours serialises to can be said. */
const values = [
  'null',
  'true',
  '-1',
  '0',
  '1.5',
  '1e400',
  '-1e400',
  '1e308',
  '9007199254740993',
  `1${'0'.repeat(30)}`,
  '""',
  '"text"',
  '"7"',
  String.raw`"a\u0000b"`,
  String.raw`"\ud800"`,
  `"${'x'.repeat(5000)}"`,
  '"../../outside"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"__proto__": {"x": 1}, "constructor": {"prototype": 1}, "toString": 1}',
  '{"length": 1e9}',
  '['.repeat(200) + ']'.repeat(200),
  '['.repeat(20_000) + ']'.repeat(20_000),
]
const pieces = ['\0', '\uFEFF', '\r\n', ',', '"', '[', '}', '\\', '\uD800', '\u2028', '{"a":1}', '\n'.repeat(3)]

type Path = readonly (string | number)[]

const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Every place in a value that can be replaced: of long lists the first three items. */
const places = (value: unknown, path: Path = []): Path[] => {
  const inner = isTree(value) ? Object.entries(value).slice(0, Array.isArray(value) ? 3 : undefined) : []
  return [path, ...inner.flatMap(([key, item]) => places(item, [...path, key]))]
}

const mark = '@@spoilt@@'

const put = (value: unknown, path: Path, text: string): string => {
  if (path.length === 0) return text
  const whole = structuredClone(value)
  let owner = whole
  for (const key of path.slice(0, -1)) owner = isTree(owner) ? owner[key] : owner
  if (isTree(owner)) owner[path.at(-1) ?? ''] = mark
  return JSON.stringify(whole).replace(JSON.stringify(mark), () => text)
}

const remove = (value: unknown, path: Path): string =>
  put(value, path, JSON.stringify(mark))
    .replace(/"[^"]*":"@@spoilt@@",?|"@@spoilt@@",?/, '')
    .replace(/,([\]}])/g, '$1')

const twice = (value: unknown, path: Path, text: string): string => {
  const key = JSON.stringify(String(path.at(-1) ?? ''))
  return JSON.stringify(value).replace(`${key}:`, () => `${key}:${text},${key}:`)
}

/** A text that was cut off, or has a piece too many, at some place. */
export const damaged = (text: string): Arbitrary<string> =>
  tuple(double({ min: 0, max: 1, noNaN: true }), constantFrom('', ...pieces)).map(([share, piece]) => {
    const at = Math.floor(share * text.length)
    return piece === '' ? text.slice(0, at) : text.slice(0, at) + piece + text.slice(at)
  })

/**
 * JSON texts that were the given values and are spoilt in one place: a value of another kind or size, a key that is gone,
 * one that comes twice, a text that is cut off. They come further into a reader than random text ever does.
 */
export const spoilt = (...given: readonly unknown[]): Arbitrary<string> =>
  constantFrom(...given).chain((value) => {
    const path = constantFrom(...places(value))
    const changed = tuple(path, constantFrom(...values), constantFrom(put, put, put, twice, remove))
    return oneof(
      { weight: 4, arbitrary: changed.map(([at, text, how]) => how(value, at, text)) },
      { weight: 1, arbitrary: damaged(JSON.stringify(value)) },
    )
  })

/** A text of lines, one of which is spoilt, or which is damaged as a whole. */
export const spoiltLines = (records: readonly unknown[]): Arbitrary<string> => {
  const lines = records.map((record) => JSON.stringify(record))
  const one = tuple(constantFrom(...lines.keys()), constantFrom('\n', '\r\n'))
  return oneof(
    one.chain(([i, end]) => spoilt(records[i]).map((text) => `${lines.toSpliced(i, 1, text).join(end)}${end}`)),
    damaged(`${lines.join('\n')}\n`),
    array(string({ unit: 'binary', maxLength: 20 }), { maxLength: 4 }).map((parts) => parts.join('\n')),
  )
}
