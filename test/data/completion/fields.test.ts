import { describe, expect, it } from 'vitest'
import { readInteger, readList, readObject, readText, sameItems } from '../../../data/completion/fields.ts'
import { JsonNumber } from '../../../data/completion/strict-json.ts'

describe('readInteger', () => {
  it.each([
    ['7', 7],
    ['-3', -3],
    ['0', 0],
    ['123456789', 123456789],
  ])('reads %s as number and as string', (text, value) => {
    expect(readInteger(new JsonNumber(text))).toBe(value)
    expect(readInteger(` ${text}\n`)).toBe(value)
  })

  it.each(['', ' ', '7.0', '1e3', '0x10', '1234567890', '--1', '٧', '7 8', 'seven'])('refuses %j', (text) => {
    expect(readInteger(text)).toBeNull()
  })

  it.each([null, true, undefined, [new JsonNumber('7')]])('refuses %j', (value) => {
    expect(readInteger(value)).toBeNull()
  })
})

describe('readList', () => {
  it('splits items, and reads None as the empty list', () => {
    expect(readList('a.b(x=1, y=2) |c.d()')).toStrictEqual(['a.b(x=1, y=2)', 'c.d()'])
    expect(readList(' None ')).toStrictEqual([])
  })

  it.each(['', '  ', 'a | | b', 'a |', '|', null, ['a']])('refuses %j', (value) => {
    expect(readList(value)).toBeNull()
  })
})

describe('readText and readObject', () => {
  it('read their kind and nothing else', () => {
    const object = new Map([['a', 'b']])
    expect(readText('x')).toBe('x')
    expect(readText('\n')).toBeNull()
    expect(readText(new JsonNumber('1'))).toBeNull()
    expect(readObject(object)).toBe(object)
    expect(readObject(['a'])).toBeNull()
    expect(readObject(undefined)).toBeNull()
  })
})

describe('sameItems', () => {
  it('compares sets, and allows no more repeats than were given', () => {
    expect(sameItems(['b', 'a'], ['a', 'b'])).toBe(true)
    expect(sameItems(['a'], ['a', 'a'])).toBe(true)
    expect(sameItems(['a', 'a'], ['a'])).toBe(false)
    expect(sameItems(['a', 'c'], ['a', 'b'])).toBe(false)
    expect(sameItems([], [])).toBe(true)
    expect(sameItems([], ['a'])).toBe(false)
  })
})
