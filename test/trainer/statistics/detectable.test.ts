import { describe, expect, it } from 'vitest'
import { Rng } from '../../../data/world/random.ts'
import { smallestDetectable } from '../../../trainer/statistics/detectable.ts'
import { signFlipTest } from '../../../trainer/statistics/sign-flip.ts'

describe('the smallest detectable effect', () => {
  it('is (t + t) · s / √n', () => {
    // s = 1, n = 5: (2.776445 + 0.940965) / √5
    expect(smallestDetectable([-1.264911064, -0.632455532, 0, 0.632455532, 1.264911064])).toBeCloseTo(1.66247, 4)
    expect(smallestDetectable([2, 2, 2])).toBe(0)
    expect(smallestDetectable([2])).toBeNull()
  })

  it('is found about four times in five by the test that it plans for', () => {
    const rng = Rng.of('power')
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next())
    const plan = Array.from({ length: 2000 }, normal)
    // The spread is known here; the effect is planned for 20 pairs of it.
    const effect = smallestDetectable(plan)! * Math.sqrt(2000 / 20) * (3.0537 / 2.8016)
    const runs = 600
    let found = 0
    for (let seed = 0; seed < runs; seed++) {
      const list = Array.from({ length: 20 }, () => normal() + effect)
      if (signFlipTest(list, { seed, resamples: 600, alternative: 'two-sided' }) <= 0.05) found += 1
    }
    expect(found / runs).toBeGreaterThan(0.75)
    expect(found / runs).toBeLessThan(0.88)
  })
})
