import type { z } from 'zod'
import { allowedKeys, allowedWords, describeAllowed, placesOf } from './allowed.ts'
import { closest } from './edit-distance.ts'
import type { JsonSchema } from './json-schema.ts'
import { pathText, valueAt, type KeyPath } from './paths.ts'

/** One thing that is wrong with a config, and the key or value that it is about. */
export interface ConfigIssue {
  readonly path: KeyPath
  readonly message: string
  /** What is wrong: the key itself, its value, or that it is not there. */
  readonly about: 'key' | 'value' | 'missing'
}

const longestShown = 60

/** A value as it would be written in the file, on one line. */
const show = (value: unknown): string => {
  // JSON has no word for these.
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? '.nan' : 'a number beyond all bounds'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

const unknownKey = (key: string, path: KeyPath, schema: JsonSchema, tree: unknown): string => {
  const allowed = allowedKeys(schema, tree, path)
  const near = closest(key, allowed)
  if (near !== undefined) return `unknown key; did you mean ${near}?`
  const places = placesOf(schema, key)
  const kind = valueAt(tree, [...path, 'kind'])
  if (places.includes(pathText([...path, key]))) return `does not go with kind ${show(kind)}`
  if (places.length > 0) return `unknown key; it belongs at ${places.join(' or ')}`
  return `unknown key; allowed here: ${allowed.join(', ')}`
}

/** A whole number that was rounded when it was read. */
const isTooLong = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

const wrongValue = (path: KeyPath, schema: JsonSchema, tree: unknown): ConfigIssue => {
  const value = valueAt(tree, path)
  const allowed = describeAllowed(schema, tree, path)
  const expected = allowed === '' ? '' : `; expected ${allowed}`
  if (value === undefined) return { path, message: `is required${expected}`, about: 'missing' }
  if (value === null && allowed === 'a map')
    return { path, message: 'is empty: leave the section out, or give it values', about: 'value' }
  const near = typeof value === 'string' ? closest(value, allowedWords(schema, tree, path)) : undefined
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  const largest = isTooLong(value) ? `; whole numbers are exact up to ${Number.MAX_SAFE_INTEGER}` : ''
  return { path, message: `${show(value)} is not allowed${expected}${hint}${largest}`, about: 'value' }
}

const zodsOwnWords = /^(Invalid|Too small|Too big|Unrecognized)/

/** Rewrites zod's findings in the words of a person who edits the file. */
export const explain = (error: z.ZodError, schema: JsonSchema, tree: unknown): ConfigIssue[] =>
  error.issues.flatMap((issue) => {
    const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: unknownKey(key, path, schema, tree),
        about: 'key' as const,
      }))
    }
    if (issue.code === 'custom') return [{ path, message: issue.message, about: 'value' as const }]
    const found = wrongValue(path, schema, tree)
    // A schema's own words say more than its type does.
    if (zodsOwnWords.test(issue.message) || found.about === 'missing') return [found]
    return [{ ...found, message: `${show(valueAt(tree, path))} is not allowed: ${issue.message}` }]
  })
