import { isRecord } from '../data/json.ts'
import { variantsOf, type JsonSchema } from './json-schema.ts'
import type { KeyPath } from './paths.ts'

/** The schema of a key whose value is one table, or undefined. A table that comes in kinds is several. */
const tableSchema = ({ properties = {} }: JsonSchema, key: string): JsonSchema | undefined => {
  const own = Object.hasOwn(properties, key) ? properties[key] : undefined
  return own === undefined || variantsOf(own).length > 0 ? undefined : own
}

/**
 * The tree with the defaults written out of every table that an override reaches into and that the file does not give:
 * `--set rewards.maxima.judge=2` then changes one entry of the default table. A table that the file gives stays as it is,
 * complete or not; so does one that comes in kinds, whose keys depend on what else is set.
 */
export const withTableDefaults = (schema: JsonSchema, tree: unknown, [key, ...rest]: KeyPath): unknown => {
  if (key === undefined || rest.length === 0) return tree
  const own = tableSchema(schema, String(key))
  const map = isRecord(tree) ? tree : {}
  const table = Object.hasOwn(map, key) ? map[key] : (own?.default ?? {})
  return own !== undefined && isRecord(table) ? { ...map, [key]: withTableDefaults(own, table, rest) } : tree
}
