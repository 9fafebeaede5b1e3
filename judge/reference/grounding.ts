import { operationApp, operationName } from '../../data/records/operation.ts'

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)

/** True when the text holds the term as a whole word, whatever its case. */
export const mentions = (text: string, term: string): boolean =>
  term !== '' && new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(term)}(?![\\p{L}\\p{N}_])`, 'iu').test(text)

/** True when the text holds one of the terms. */
export const mentionsAny = (text: string, terms: Iterable<string>): boolean =>
  [...terms].some((term) => mentions(text, term))

/** True when the text names the endpoint of one of the operations in full, as `app.endpoint`. */
export const namesEndpoint = (text: string, operations: readonly string[]): boolean =>
  operations.some((operation) => mentions(text, operationName(operation)))

/** Argument values of a written operation that are long enough to be recognised. */
const valuesOf = (operation: string): readonly string[] =>
  [...operation.matchAll(/=([^,)]+)/gu)].map((match) => match[1]?.trim() ?? '').filter((value) => value.length >= 2)

/** How well a text points at operations: 1 for an endpoint in full, 0.5 for an app or a value of one, else 0. */
export const pointsAt = (text: string, operations: readonly string[]): number => {
  if (namesEndpoint(text, operations)) return 1
  const terms = operations.flatMap((operation) => [operationApp(operation), ...valuesOf(operation)])
  return terms.some((term) => mentions(text, term)) ? 0.5 : 0
}

const DOTTED = /(?<![\p{L}\p{N}_.])[a-z][a-z0-9_]+\.[a-z][a-z0-9_]+(?![\p{L}\p{N}_])/gu

/** True when the text names an `app.endpoint` (or a file) that what the prompt shows does not have. */
export const invents = (text: string, shown: string): boolean =>
  [...text.matchAll(DOTTED)].some(([term]) => !shown.includes(term))
