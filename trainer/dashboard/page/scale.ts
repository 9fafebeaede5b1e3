export type Scale = (value: number) => number

/** Maps values to pixels. */
export const scale =
  ([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale =>
  (value) =>
    start + ((value - from) / (to - from || 1)) * (end - start)

/** Maps values to pixels by their logarithm; what is not above zero lies at the lower end. */
export const logScale = ([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale => {
  const linear = scale([Math.log10(from), Math.log10(to)], [start, end])
  return (value) => (value > 0 ? linear(Math.log10(value)) : start)
}

/** 1, 2 and 5 of each power of ten in a range; the powers only where there are many of them, round numbers where there are few. */
export const logTicks = (low: number, high: number): number[] => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
  const every = Math.max(1, Math.ceil((last - first) / 6))
  const factors = high > 100 * low ? [1] : [1, 2, 5]
  const marks = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    .filter((power) => power % every === 0)
    .flatMap((power) => factors.map((factor) => Number((factor * 10 ** power).toPrecision(6))))
    .filter((value) => value >= low && value <= high)
  return marks.length < 2 ? ticks(low, high) : marks
}

/** Range of what lies above zero; null where a logarithm would not do: nothing does, or something lies below. */
export const logExtent = (values: readonly (number | null)[]): [number, number] | null => {
  let [low, high] = [Infinity, 0]
  for (const value of values) {
    if (value === null || Number.isNaN(value)) continue
    if (value < 0) return null
    if (value === 0) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return high === 0 ? null : [low / 1.15, high * 1.15]
}

/** Round numbers that cover a range, about as many as wanted. */
export const ticks = (low: number, high: number, wanted = 5): number[] => {
  const rough = (high - low || 1) / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? 10 * power
  const first = Math.ceil(low / step - 1e-9)
  const count = Math.floor(high / step + 1e-9) - first
  return Array.from({ length: Math.max(0, count + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

/** Least and largest of what is known, a little wider; a range without extent gets one. */
export const extent = (values: readonly (number | null)[]): [number, number] => {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (value === null || Number.isNaN(value)) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (low > high) return [0, 1]
  if (low === high) return low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1]
  const room = (high - low) * 0.06
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room]
}

/** Moves labels apart that would cover each other; the order stays. */
export const spread = (positions: readonly number[], gap: number, lowest: number): number[] => {
  const order = positions.map((_, i) => i).toSorted((a, b) => (positions[a] ?? 0) - (positions[b] ?? 0))
  const placed = [...positions]
  let last = -Infinity
  for (const i of order) last = placed[i] = Math.max(placed[i] ?? 0, last + gap)
  let limit = lowest
  for (const i of order.toReversed()) limit = (placed[i] = Math.min(placed[i] ?? 0, limit)) - gap
  return placed
}
