const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const

/** Round spans of a clock, and of days beyond it. */
const spans = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28].map((count) => count * day),
]

/** Round times that cover a range, at most as many as wanted, but for one. */
export const clockTicks = (low: number, high: number, wanted: number): number[] => {
  const span = spans.find((one) => (high - low) / one <= wanted) ?? Math.ceil((high - low) / wanted / day) * day
  const first = Math.ceil(low / span)
  return Array.from({ length: Math.max(0, Math.floor(high / span) - first + 1) }, (_, i) => (first + i) * span)
}

const iso = (time: number): string => new Date(time).toISOString()

/** A mark of an axis: no longer than it has to be among its neighbours. */
export const clockMark = (time: number, marks: readonly number[]): string => {
  if (marks.every((one) => one % day === 0)) return iso(time).slice(5, 10)
  return iso(time).slice(11, marks.every((one) => one % minute === 0) ? 16 : 19)
}

/** Date and time, as the lists of this dashboard have them. */
export const clockText = (time: number): string => iso(time).slice(0, 19).replace('T', ' ')
