import { describe, expect, it, vi } from 'vitest'
import { soak } from '../support/soak.ts'
import { temporaryDirectory } from '../support/temporary.ts'

vi.setConfig({ testTimeout: 600_000 })

describe.skipIf(process.platform !== 'linux')('a long run', () => {
  it('holds no more after 400 steps than after 100: descriptors, files, bytes', async () => {
    const [first, ...later] = await soak(temporaryDirectory(), 400)
    expect(first?.step).toBe(100)
    // Two checkpoints; adapters of theirs and of the versions that a sampler may still hold; forty steps and those since.
    expect(first?.files).toEqual({ rollouts: 41, updates: 41, adapters: 8, checkpoints: 4 })
    expect(later.map(({ files }) => files)).toEqual([
      first?.files,
      first?.files,
      { ...first?.files, rollouts: 40, updates: 40 },
    ])
    for (const { descriptors, boundedBytes } of later) {
      expect(descriptors).toBeLessThanOrEqual((first?.descriptors ?? 0) + 2)
      expect(boundedBytes).toBeLessThan((first?.boundedBytes ?? 0) * 1.2)
    }
  })
})
