import { describe, expect, it } from 'vitest'
import { binomialInterval } from './binomial.ts'

describe('the interval of a chance', () => {
  it('is the exact one of the tables', () => {
    expect(binomialInterval(0, 1000)[1]).toBeCloseTo(0.003682, 5)
    const [low, high] = binomialInterval(13, 1000)
    expect([low, high].map((value) => value.toFixed(4))).toStrictEqual(['0.0069', '0.0221'])
    expect(binomialInterval(5, 10).map((value) => value.toFixed(4))).toStrictEqual(['0.1871', '0.8129'])
    expect(binomialInterval(10, 10)[0]).toBeCloseTo(0.6915, 4)
  })
})
