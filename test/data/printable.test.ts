import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable } from '../../data/printable.ts'

describe('printable', () => {
  it('shows what acts on a terminal, and leaves all other text alone', () => {
    expect(printable('\u001B]0;title\u0007\r\u009B2J\u202E')).toBe('\\u001b]0;title\\u0007\\u000d\\u009b2J\\u202e')
    expect(printable('Grüße, 文\tétape\n→ 1')).toBe('Grüße, 文\tétape\n→ 1')
  })

  it('keeps JSON the same value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(printable(JSON.stringify(text)))).toBe(text)
      }),
    )
    expect(JSON.parse(printable(JSON.stringify('\u009B\u007F\u202E')))).toBe('\u009B\u007F\u202E')
  })
})
