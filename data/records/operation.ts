import { z } from 'zod'

/** One executed call. `app.endpoint(key=value, …)` is its written form. */
export const Call = z.strictObject({
  app: z.string().min(1),
  endpoint: z.string().min(1),
  args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
})
export type Call = z.infer<typeof Call>

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '|': '\\u007c', '\n': '\\n', '\r': '\\r' }

/** Escapes what would break a one-line, `|`-separated list. */
const escapeValue = (value: string): string => value.replace(/[\\|\n\r]/g, (c) => escapes[c] ?? c)

/** Writes a call so that a list of calls joined by ` | ` can always be split again. */
export const formatOperation = (call: Call): string => {
  const args = Object.entries(call.args).map(([key, value]) => `${key}=${escapeValue(String(value))}`)
  return `${call.app}.${call.endpoint}(${args.join(', ')})`
}

/** Joins items as the answers do: `a | b`, or `None` for an empty list. */
export const formatList = (items: readonly string[]): string => (items.length === 0 ? 'None' : items.join(' | '))

/** Splits `a | b`; `None` and blank text are the empty list. Items are trimmed, never repaired. */
export const parseList = (text: string): string[] => {
  const trimmed = text.trim()
  return trimmed === '' || trimmed === 'None' ? [] : trimmed.split('|').map((item) => item.trim())
}

/** `app.endpoint` of a written operation: everything before its first parenthesis. */
export const operationName = (operation: string): string => operation.split('(', 1)[0]?.trim() ?? ''

/** The app of a written operation: everything before its first full stop. */
export const operationApp = (operation: string): string => operationName(operation).split('.', 1)[0] ?? ''
