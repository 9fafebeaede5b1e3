import { Rng } from '../../data/world/random.ts'

/** Tables of random numbers are shared by all measures of an analysis: they depend on the seed and on sizes only. */
const kept = new Map<string, Uint16Array | Uint32Array>()

/** Numbers that are kept in all, about 8 MB: enough for every table of an evaluation of 100 prompts. */
const most = 4_000_000
let size = 0

const remember = <T extends Uint16Array | Uint32Array>(key: string, make: () => T): T => {
  const known = kept.get(key)
  if (known !== undefined) return known as T
  const table = make()
  kept.set(key, table)
  size += table.length
  for (const [oldest, { length }] of kept) {
    if (size <= most || oldest === key) break
    kept.delete(oldest)
    size -= length
  }
  return table
}

/** One resample after the other: where in `table` it starts. */
export interface Resamples {
  readonly table: Uint16Array | Uint32Array
  readonly start: (resample: number) => number
}

/**
 * Which values each bootstrap sample of `count` values draws. The same numbers for the same seed, count and resamples; a
 * table that would be large is drawn as it is read, so resamples have to be read in order.
 */
export const drawnIndices = (seed: number, count: number, resamples: number): Resamples => {
  const random = Rng.of(seed)
  const draw = (table: Uint16Array | Uint32Array): void => {
    for (let i = 0; i < table.length; i++) table[i] = Math.floor(random.next() * count)
  }
  if (count * resamples > most || count > 65_535) {
    const table = new Uint32Array(count)
    return { table, start: () => (draw(table), 0) }
  }
  const table = remember(`indices ${seed} ${count} ${resamples}`, () => {
    const drawn = new Uint16Array(count * resamples)
    draw(drawn)
    return drawn
  })
  return { table, start: (resample) => resample * count }
}

/** Random bits: `words` words of 32 for each resample. */
export const drawnBits = (seed: number, words: number, resamples: number): Uint32Array =>
  remember(`bits ${seed} ${words} ${resamples}`, () => {
    const random = Rng.of(seed)
    return Uint32Array.from({ length: words * resamples }, () => random.next() * 2 ** 32)
  })
