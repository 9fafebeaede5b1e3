import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clockMark, clockText, clockTicks } from '../../../trainer/dashboard/page/clock.ts'

const marksOf = (low: string, high: string, wanted = 5): string[] => {
  const marks = clockTicks(Date.parse(low), Date.parse(high), wanted)
  return marks.map((mark) => clockMark(mark, marks))
}

describe('an axis of time', () => {
  it('has marks at round times, and says of each what it needs', () => {
    expect(marksOf('2026-01-01T09:58:00Z', '2026-01-01T11:12:00Z')).toEqual([
      '10:00',
      '10:15',
      '10:30',
      '10:45',
      '11:00',
    ])
    expect(marksOf('2026-01-01T00:00:01Z', '2026-01-01T00:00:13Z')).toEqual(['00:00:05', '00:00:10'])
    expect(marksOf('2026-01-30T13:00:00Z', '2026-02-02T13:00:00Z')).toEqual(['01-31', '02-01', '02-02'])
    expect(clockText(Date.parse('2026-02-03T04:05:06.789Z'))).toBe('2026-02-03 04:05:06')
  })
  it('has no more marks than wanted, but for one, all of them inside', () => {
    const time = fc.integer({ min: 1.7e12, max: 1.9e12 })
    fc.assert(
      fc.property(
        time,
        fc.integer({ min: 1000, max: 4e10 }),
        fc.integer({ min: 2, max: 12 }),
        (low, length, wanted) => {
          const marks = clockTicks(low, low + length, wanted)
          expect(marks.length).toBeLessThanOrEqual(wanted + 1)
          expect(marks.every((mark) => mark >= low && mark <= low + length)).toBe(true)
        },
      ),
    )
  })
})
