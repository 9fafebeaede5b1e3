import type { Columns } from './columns.ts'

export const orders = ['newest', 'best', 'worst', 'advantage', 'longest', 'judge'] as const
export type Order = (typeof orders)[number]

/** Smallest first; a value that does not exist goes last. */
const keys: Readonly<Record<Exclude<Order, 'newest'>, (columns: Columns, row: number) => number>> = {
  best: ({ of }, row) => -(of.total.data[row] ?? Number.NaN),
  worst: ({ of }, row) => of.total.data[row] ?? Number.NaN,
  advantage: ({ of }, row) => -Math.abs(of.advantage.data[row] ?? Number.NaN),
  longest: ({ of }, row) => -(of.tokens.data[row] ?? 0),
  judge: ({ of }, row) => -(of.judge.data[row] ?? Number.NaN),
}

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** A single-precision number as a whole number of the same order; NaN is the largest. */
const ordinal = (value: number): number => {
  if (Number.isNaN(value)) return 0xffffffff
  // Of zero there is one only.
  float[0] = value + 0
  const own = bits[0] ?? 0
  return own >= 0x80000000 ? 0xffffffff - own : own + 0x80000000
}

/**
 * Row numbers by key, equal keys as they stand. Key and place share one double (32 and 21 bits of its 53), which sorts ten
 * times as fast as a comparison of rows would; beyond two million rows the key loses its last bits.
 */
const sortBy = (count: number, key: (place: number) => number, rowAt: (place: number) => number): Uint32Array => {
  const places = 2 ** Math.max(21, Math.ceil(Math.log2(Math.max(2, count))))
  const coarse = places / 2 ** 21
  const sortable = new Float64Array(count)
  for (let place = 0; place < count; place++) sortable[place] = Math.floor(key(place) / coarse) * places + place
  sortable.sort()
  return Uint32Array.from(sortable, (value) => rowAt(value % places))
}

/** All rows, newest step first, and within a step as they stand in its file. */
export const newestFirst = ({ of, count }: Columns): Uint32Array => {
  const step = of.step.data
  return sortBy(
    count,
    (row) => 0xffffffff - (step[row] ?? 0),
    (row) => row,
  )
}

/** All rows by a key; of equal ones the newer first. */
export const ordered = (columns: Columns, newest: Uint32Array, order: Order): Uint32Array => {
  if (order === 'newest') return newest
  const key = keys[order]
  return sortBy(
    newest.length,
    (place) => ordinal(key(columns, newest[place] ?? 0)),
    (place) => newest[place] ?? 0,
  )
}
