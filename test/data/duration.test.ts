import { describe, expect, it } from 'vitest'
import { longestSeconds, milliseconds, seconds } from '../../data/duration.ts'

describe('a duration of a config', () => {
  it.each([2.01, 8.2, 0.0001, 1.001, longestSeconds])('of %d s is one that a timer can wait', (duration) => {
    const ms = milliseconds(seconds.parse(duration))
    expect(AbortSignal.timeout(ms).aborted).toBe(false)
    expect(ms).toBeGreaterThanOrEqual(1)
    expect(ms).toBeLessThan(2 ** 31)
    expect(ms / 1000).toBeCloseTo(duration, 2)
  })

  it.each([0, -1, longestSeconds + 1, Infinity])('is not %d s', (duration) => {
    expect(seconds.safeParse(duration).success).toBe(false)
  })
})
