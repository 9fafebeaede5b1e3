import { parseList } from '../records/operation.ts'
import { JsonNumber, type JsonObject, type JsonValue } from './strict-json.ts'
import { isBlank } from './text.ts'

const INTEGER = /^[+-]?\d{1,9}$/

/** An integer as written in at most nine digits, as a JSON number or a string; `7.0` and `1e3` are not. Null otherwise. */
export const readInteger = (value: JsonValue | undefined): number | null => {
  const text = value instanceof JsonNumber ? value.text : typeof value === 'string' ? value.trim() : ''
  return INTEGER.test(text) ? Number(text) : null
}

/** Items of a list field (`a | b`, or `None` for the empty list); null when it is no string, blank, or has a blank item. */
export const readList = (value: JsonValue | undefined): readonly string[] | null => {
  if (typeof value !== 'string' || isBlank(value)) return null
  const items = parseList(value)
  return items.every((item) => item !== '') ? items : null
}

/** A string field; null when it is no string or blank. */
export const readText = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && !isBlank(value) ? value : null

/** An object field; null otherwise. */
export const readObject = (value: JsonValue | undefined): JsonObject | null => (value instanceof Map ? value : null)

/** How often each item occurs. */
export const countItems = (items: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** The same set of items, none repeated more often than in `expected`: a call that ran twice may be listed once or twice. */
export const sameItems = (items: readonly string[], expected: readonly string[]): boolean => {
  const allowed = countItems(expected)
  const counts = countItems(items)
  return counts.size === allowed.size && [...counts].every(([item, count]) => count <= (allowed.get(item) ?? 0))
}
