import { createHash } from 'node:crypto'

/** Children of one request use seed, seed + 1, …: two requests' seeds are at least this far apart. */
const spacing = 256

/**
 * Sampling seed of one prompt: a pure function of the run's seed, a stage (the step, or the name of an evaluation) and the
 * prompt's id, so that a resumed run samples what an uninterrupted one would have. A multiple of 256 below 2^31.
 */
export const promptSeed = (runSeed: number, stage: number | string, promptId: string): number => {
  const digest = createHash('sha256')
    .update(JSON.stringify([runSeed, stage, promptId]))
    .digest()
  return (digest.readUInt32BE(0) >>> 1) & ~(spacing - 1)
}
