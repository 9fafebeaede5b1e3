import { describe } from './describe.ts'
import { variantsOf, type JsonSchema } from './json-schema.ts'
import { valueAt, type KeyPath } from './paths.ts'

/** A variant fits when no constant of its own (its `kind`) is contradicted by the value. */
const fits = (variant: JsonSchema, value: unknown): boolean =>
  Object.entries(variant.properties ?? {}).every(
    ([key, property]) => property.const === undefined || property.const === valueAt(value, [key]),
  )

const child = (schema: JsonSchema, key: string | number): JsonSchema | undefined => {
  if (typeof key === 'number')
    return schema.prefixItems?.[key] ?? (typeof schema.items === 'object' ? schema.items : undefined)
  const own = schema.properties
  if (own !== undefined && Object.hasOwn(own, key)) return own[key]
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

/** The variants of a union that the value may be; a schema that is no union is its only variant. */
const narrow = (schema: JsonSchema, value: unknown): readonly JsonSchema[] => {
  const variants = variantsOf(schema)
  if (variants.length === 0) return [schema]
  const fitting = variants.filter((variant) => fits(variant, value))
  return (fitting.length > 0 ? fitting : variants).flatMap((variant) => narrow(variant, value))
}

/** All schemas that may describe the value at a path; unions above it are narrowed by the `kind` that is written. */
const schemasAt = (root: JsonSchema, tree: unknown, path: KeyPath): readonly JsonSchema[] => {
  let schemas: readonly JsonSchema[] = [root]
  path.forEach((key, depth) => {
    const value = valueAt(tree, path.slice(0, depth))
    schemas = schemas.flatMap((schema) => narrow(schema, value)).flatMap((schema) => child(schema, key) ?? [])
  })
  return schemas
}

/** Keys that the map at a path may have. */
export const allowedKeys = (root: JsonSchema, tree: unknown, path: KeyPath): string[] => {
  const maps = schemasAt(root, tree, path).flatMap((schema) => narrow(schema, valueAt(tree, path)))
  const keys = maps.flatMap((map) => [
    ...Object.keys(map.properties ?? {}),
    ...(map.propertyNames?.enum ?? []).map(String),
  ])
  return [...new Set(keys)]
}

/** Every path in the schema that ends in this key: where a misplaced key belongs. */
export const placesOf = (root: JsonSchema, key: string, at: KeyPath = []): string[] => {
  const here = Object.entries(root.properties ?? {}).flatMap(([name, property]) => [
    ...(name === key ? [[...at, name].join('.')] : []),
    ...placesOf(property, key, [...at, name]),
  ])
  return [...new Set([...here, ...variantsOf(root).flatMap((variant) => placesOf(variant, key, at))])]
}

/** What the value at a path may be, in words; empty when the schema does not know the path. */
export const describeAllowed = (root: JsonSchema, tree: unknown, path: KeyPath): string =>
  [...new Set(schemasAt(root, tree, path).map(describe))].join(', or ')

/** Words that the value at a path may be, for did-you-mean. */
export const allowedWords = (root: JsonSchema, tree: unknown, path: KeyPath): string[] =>
  schemasAt(root, tree, path).flatMap((schema) =>
    [schema, ...variantsOf(schema)].flatMap((one) =>
      [one.const, ...(one.enum ?? [])].filter((word) => typeof word === 'string'),
    ),
  )
