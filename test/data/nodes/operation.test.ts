import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutText } from '../../../data/nodes/cut.ts'
import { neutralise } from '../../../data/nodes/neutral.ts'
import { showOperation } from '../../../data/nodes/operation.ts'
import { formatList, parseList } from '../../../data/records/operation.ts'

const argument = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer(), fc.boolean())
const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), argument, { maxKeys: 5 })

describe('a shown operation', () => {
  test('is written app.endpoint(key=value, …)', () => {
    expect(showOperation({ app: 'shop', endpoint: 'order', args: { item: 'lamp', count: 2, gift: true } })).toBe(
      'shop.order(item=lamp, count=2, gift=true)',
    )
  })

  test('cuts long values so that the whole stays within 20 words', () => {
    const text = 'a few words and '.repeat(60)
    const shown = showOperation({ app: 'post', endpoint: 'send', args: { to: 'ana', text } })
    expect(shown.split(/\s+/).length).toBeLessThanOrEqual(20)
    expect(shown).toMatch(/^post\.send\(to=ana, text=a few words .*\[…\d+\]\)$/)
  })

  test('has no arrow of its own that could pass for a result', () => {
    expect(showOperation({ app: 'a', endpoint: 'b', args: { c: 'x) -> ok: y' } })).not.toContain('->')
  })

  test('can be split out of a list again', () => {
    fc.assert(
      fc.property(fc.array(args, { minLength: 1, maxLength: 4 }), (calls) => {
        const shown = calls.map((given) => showOperation({ app: 'post', endpoint: 'send', args: given }))
        expect(parseList(formatList(shown))).toEqual(shown)
        for (const operation of shown) expect(neutralise(operation)).toBe(operation)
      }),
    )
  })
})

describe('neutralised text', () => {
  test('stays as it is the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(neutralise(neutralise(text))).toBe(neutralise(text))
      }),
    )
  })

  test('leaves ordinary text alone', () => {
    const text = 'Größe: 3 > 2 -> ok [3] [x], "quoted" & 100 %\n\tтекст 日本語 😀'
    expect(neutralise(text)).toBe(text)
  })
})

describe('cut text', () => {
  test('is never much longer than the limit and counts what is missing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 1, max: 100 }), (text, limit) => {
        const cut = cutText(text, limit)
        const missing = [...cut.matchAll(/\[… (\d+) characters cut\]/g)].reduce(
          (sum, match) => sum + Number(match[1]),
          0,
        )
        const length = Array.from(text).length
        expect(missing).toBe(length > limit ? length - limit : 0)
        expect(cut).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/)
      }),
    )
  })

  test('keeps a span up to twice the limit whole', () => {
    const keep = 'k'.repeat(180)
    expect(cutText(`${'a'.repeat(500)}${keep}${'b'.repeat(500)}`, 100, keep)).toContain(keep)
  })
})
