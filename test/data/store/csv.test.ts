import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from '../../../data/store/csv.ts'
import { parseCsv } from '../../support/parse-csv.ts'

describe('a line of CSV', () => {
  it('has the fields, quotes and line end of RFC 4180', () => {
    expect(csvLine(['a', 1.5, null, 'b,c', 'say "x"', 'two\r\nlines', true, Number.NaN])).toBe(
      'a,1.5,,"b,c","say ""x""","two\r\nlines",true,\r\n',
    )
  })

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('makes text of what a spreadsheet would run: %j', (text) => {
    expect(parseCsv(csvLine([text, -1]))).toStrictEqual([[`'${text}`, '-1']])
  })

  it('gives back any text that begins like text', () => {
    const cell = fc.string({ unit: 'binary', maxLength: 30 }).map((text) => `x${text}`)
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 1 }), { minLength: 1 }), (rows) => {
        expect(parseCsv(rows.map(csvLine).join(''))).toStrictEqual(rows)
      }),
    )
  })
})
