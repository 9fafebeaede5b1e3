import fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../../../data/records/node.ts'
import { escapeXml } from '../../../../trainer/evaluation/markup.ts'
import { tableCsv } from '../../../../trainer/evaluation/report/csv.ts'
import { binDeltas } from '../../../../trainer/evaluation/report/deltas.ts'
import { background, modelColours, nodeColours, type Theme } from '../../../../trainer/evaluation/report/palette.ts'
import { ticks } from '../../../../trainer/evaluation/report/svg.ts'

describe('escaping', () => {
  it('keeps any text from being markup, and loses nothing that XML can hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const xml = `<a b="${escapeXml(text)}">${escapeXml(text)}</a>`
        expect(XMLValidator.validate(xml)).toBe(true)
      }),
    )
    const text = '<b> & "quoted" \'single\' 🙂'
    const parsed = new XMLParser().parse(`<a>${escapeXml(text)}</a>`) as { a: string }
    expect(parsed.a.replace('&#39;', "'").replace('&#39;', "'")).toBe(text)
  })
})

describe('bins of changes', () => {
  it('hold every change once, and never a loss beside a gain', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -6, max: 6, noNaN: true }), { minLength: 1 }), (deltas) => {
        const bins = binDeltas(deltas)
        expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(deltas.length)
        expect(bins.filter(({ from, to }) => from < -1e-9 && to > 1e-9)).toStrictEqual([])
      }),
    )
  })
})

describe('ticks', () => {
  it('are few, round, inside the range and in order', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -9, max: 9, noNaN: true }),
        fc.double({ min: 0.001, max: 20, noNaN: true }),
        (low, span) => {
          const marks = ticks(low, low + span)
          expect(marks.length).toBeLessThanOrEqual(7)
          expect(marks.length).toBeGreaterThanOrEqual(1)
          expect(marks).toStrictEqual(marks.toSorted((a, b) => a - b))
          expect(Math.min(...marks)).toBeGreaterThanOrEqual(low - 1e-6)
          expect(Math.max(...marks)).toBeLessThanOrEqual(low + span + 1e-6)
        },
      ),
    )
  })
})

describe('CSV', () => {
  it('quotes what must be, defuses formulas, and writes numbers as numbers', () => {
    const table = {
      id: 't',
      title: '',
      header: ['a', 'b'],
      rows: [
        ['x,"y"', '−0.250'],
        ['=1+1', '+0.5'],
        ['0.1 to 0.2', '–'],
      ],
    }
    expect(tableCsv(table)).toBe('a,b\r\n"x,""y""",-0.25\r\n\'=1+1,0.5\r\n0.1 to 0.2,–\r\n')
  })
})

const luminance = (hex: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const contrast = (one: string, other: string): number => {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

describe.each(['light', 'dark'] as Theme[])('the %s palette', (theme) => {
  it('has marks that stand out from their background by 3 : 1', () => {
    const colours = [
      ...nodeIds.map((node) => nodeColours[node][theme]),
      modelColours.base[theme],
      modelColours.trained[theme],
    ]
    for (const colour of colours) expect(contrast(colour, background[theme])).toBeGreaterThanOrEqual(3)
  })
})
