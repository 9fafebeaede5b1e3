import { isCollection, isMap, isScalar, LineCounter, parseDocument, type Document, type Pair } from 'yaml'
import type { KeyPath } from './paths.ts'

/** A parsed YAML text that knows where its keys and values stand. */
export interface YamlSource {
  readonly value: unknown
  /** Syntax errors, with `line:column`. With any, `value` is undefined. */
  readonly errors: readonly { readonly position: string; readonly message: string }[]
  /** `line:column` of a key or value; of the nearest map above where the path is absent. */
  readonly positionOf: (path: KeyPath, about: 'key' | 'value' | 'missing') => string
  readonly has: (path: KeyPath) => boolean
}

const pairAt = (document: Document, path: KeyPath): Pair | undefined => {
  const parent = document.getIn(path.slice(0, -1), true)
  const key = path.at(-1)
  return isMap(parent)
    ? parent.items.find((item) => (isScalar(item.key) ? String(item.key.value) : undefined) === String(key))
    : undefined
}

const startOf = (node: unknown): number | undefined => {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined
  const [start] = node.range as unknown[]
  return typeof start === 'number' ? start : undefined
}

const offsetOf = (document: Document, path: KeyPath, about: 'key' | 'value' | 'missing'): number => {
  if (path.length === 0) return startOf(document.contents) ?? 0
  const pair = pairAt(document, path)
  const node = about === 'key' ? pair?.key : (document.getIn(path, true) ?? pair?.key)
  return startOf(node) ?? offsetOf(document, path.slice(0, -1), 'key')
}

/** The parser's own words for what is too deep for it come once for every level. */
const isOverflow = ({ message }: { readonly message: string }): boolean => message.includes('call stack')

/** Does a value hold itself? Aliases can do that, and nothing that reads a tree ends then. */
const isCyclic = (value: unknown, above: ReadonlySet<unknown> = new Set()): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (above.has(value)) return true
  const inside = new Set([...above, value])
  return Object.values(value).some((part) => isCyclic(part, inside))
}

/** Reads one strict YAML 1.2 document: duplicate keys, unknown tags and a second document are errors. */
export const parseYaml = (text: string): YamlSource => {
  const lines = new LineCounter()
  const document: Document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  const found = [...document.errors, ...document.warnings].map((error) => ({
    position: at(error.pos[0]),
    message: error.message,
  }))
  const overflow = found.find(isOverflow)
  const errors = overflow === undefined ? found : [{ ...overflow, message: 'nested too deeply for a config' }]
  const source = {
    positionOf: (path: KeyPath, about: 'key' | 'value' | 'missing') => at(offsetOf(document, path, about)),
    has: (path: KeyPath) => isCollection(document.contents) && document.hasIn(path),
  }
  if (errors.length > 0) return { ...source, value: undefined, errors }
  const bad = (message: string): YamlSource => ({ ...source, value: undefined, errors: [{ position: '1:1', message }] })
  try {
    const value = document.toJS({ maxAliasCount: 100 }) as unknown
    return isCyclic(value)
      ? bad('an alias stands for a value that holds it: write the value out')
      : { ...source, value, errors }
  } catch (error) {
    // Aliases of aliases that would expand without end.
    const { message } = error as Error
    return bad(message.startsWith('Excessive') ? 'aliases (*name) stand for too much: write the values out' : message)
  }
}
