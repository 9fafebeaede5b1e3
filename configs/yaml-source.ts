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

/** Reads one strict YAML 1.2 document: duplicate keys, unknown tags and a second document are errors. */
export const parseYaml = (text: string): YamlSource => {
  const lines = new LineCounter()
  const document: Document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  const errors = [...document.errors, ...document.warnings].map((error) => ({
    position: at(error.pos[0]),
    message: error.message,
  }))
  const source = {
    positionOf: (path: KeyPath, about: 'key' | 'value' | 'missing') => at(offsetOf(document, path, about)),
    has: (path: KeyPath) => isCollection(document.contents) && document.hasIn(path),
  }
  if (errors.length > 0) return { ...source, value: undefined, errors }
  try {
    return { ...source, value: document.toJS({ maxAliasCount: 100 }) as unknown, errors }
  } catch (error) {
    // The only failure of toJS: aliases that would expand without end.
    return {
      ...source,
      value: undefined,
      errors: [{ position: '1:1', message: error instanceof Error ? error.message : String(error) }],
    }
  }
}
