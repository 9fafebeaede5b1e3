import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rawMembers } from '../../../rewards/service/raw-members.ts'

describe('the members of an object as they were written', () => {
  it('gives each value back to the letter', () => {
    const text = '{ "a" : 1.0 ,\n"b\\u0063": [ -0.0, {"x": "}],\\""} ] , "d":"\\\\","e":{} }'
    expect([...rawMembers(text)]).toStrictEqual([
      ['a', '1.0'],
      ['bc', '[ -0.0, {"x": "}],\\""} ]'],
      ['d', '"\\\\"'],
      ['e', '{}'],
    ])
  })

  it('keeps the last of equal keys, as parsers do', () => {
    expect([...rawMembers('{"a": 1, "a": 2}')]).toStrictEqual([['a', '2']])
  })

  it('agrees with the parser on every object', () => {
    const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true })
    const spaces = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(object, spaces, (value, space) => {
        const text = JSON.stringify(value, null, space)
        const parsed = JSON.parse(text) as Record<string, unknown>
        const members = rawMembers(text)
        expect(new Set(members.keys())).toStrictEqual(new Set(Object.keys(parsed)))
        for (const [key, raw] of members) expect(JSON.parse(raw)).toStrictEqual(parsed[key])
      }),
    )
  })
})
