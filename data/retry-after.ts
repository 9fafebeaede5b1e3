/** A Retry-After header in milliseconds: seconds, or a date; null where it is missing or neither. */
export const retryAfter = (text: string | null, now: number): number | null => {
  if (text === null) return null
  const ms = /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}
