import { assert, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countCodePoints, countWords, isBlank } from '../../../data/completion/text.ts'

const anyText = string({ unit: 'binary', maxLength: 200 })

describe('text measures', () => {
  it('agree with their definitions by regular expression', () => {
    assert(
      property(anyText, (text) => {
        const runs = (text.match(/\S+/gu) ?? []).length
        const solid = Array.from(text.replaceAll(/\s/gu, '')).length
        expect(countWords(text)).toBe(Math.max(runs, Math.ceil(solid / 16)))
        expect(countCodePoints(text)).toBe(Array.from(text).length)
        expect(isBlank(text)).toBe(text.trim() === '')
      }),
    )
  })

  it('know every white space character of the language', () => {
    const wrong: number[] = []
    for (let code = 0; code <= 0xffff; code += 1) {
      const char = String.fromCharCode(code)
      if (isBlank(char) !== /\s/u.test(char)) wrong.push(code)
    }
    expect(wrong).toStrictEqual([])
  })

  it('count an endless word, and a language without spaces, by its length', () => {
    expect(countWords('x'.repeat(4000))).toBe(250)
    expect(countWords('字'.repeat(33))).toBe(3)
  })

  it('count astral characters and lone surrogates once', () => {
    expect(countCodePoints('a😀\ud800b\udc00')).toBe(5)
  })
})
