/** Mixes text into four 32-bit words (two rounds of multiply-xor per character); not for cryptography. */
const mix = (words: readonly number[], text: string): [number, number, number, number] => {
  let [a = 0, b = 0, c = 0, d = 0] = words
  for (let i = 0; i < text.length; i++) {
    const k = text.charCodeAt(i)
    a = b ^ Math.imul(a ^ k, 597399067)
    b = c ^ Math.imul(b ^ k, 2869860233)
    c = d ^ Math.imul(c ^ k, 951274213)
    d = a ^ Math.imul(d ^ k, 2716044179)
  }
  a = Math.imul(c ^ (a >>> 18), 597399067)
  b = Math.imul(d ^ (b >>> 22), 2869860233)
  c = Math.imul(a ^ (c >>> 17), 951274213)
  d = Math.imul(b ^ (d >>> 19), 2716044179)
  return [a ^ b ^ c ^ d, b ^ a, c ^ a, d ^ a]
}

const start = [1779033703, 3144134277, 1013904242, 2773480762] as const

/** A stable 32-bit hash of a text. */
export const hashText = (text: string): number => mix(start, text)[0] >>> 0

/**
 * Seeded random numbers (sfc32). A fork depends on its label and on the parent's seed, never on how many
 * numbers were drawn before: one more draw in one place changes nothing elsewhere.
 */
export class Rng {
  private readonly key: readonly number[]
  private a: number
  private b: number
  private c: number
  private d: number

  private constructor(key: readonly [number, number, number, number]) {
    this.key = key
    ;[this.a, this.b, this.c, this.d] = key
    for (let i = 0; i < 8; i++) this.next()
  }

  /** A generator for this seed. */
  static of(seed: number | string): Rng {
    return new Rng(mix(start, String(seed)))
  }

  /** An independent generator named by a label. */
  fork(label: string): Rng {
    return new Rng(mix(this.key, label))
  }

  /** Uniform in [0, 1). */
  next(): number {
    const t = (((this.a + this.b) | 0) + this.d) | 0
    this.d = (this.d + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (this.c << 21) | (this.c >>> 11)
    this.c = (this.c + t) | 0
    return (t >>> 0) / 4294967296
  }

  /** Uniform integer, both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One item, uniformly. */
  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('pick from an empty list')
    return item
  }

  /** One key of a table of weights, in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      left -= weight
      if (left < 0) return key
    }
    const last = entries.at(-1)
    if (last === undefined) throw new Error('weighted choice from an empty table')
    return last[0]
  }
}
