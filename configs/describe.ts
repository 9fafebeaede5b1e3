import { variantsOf, type JsonSchema } from './json-schema.ts'

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  null: 'null',
}

const range = (schema: JsonSchema): string => {
  const low = schema.exclusiveMinimum ?? schema.minimum ?? -Infinity
  const high = schema.exclusiveMaximum ?? schema.maximum ?? Infinity
  const from = schema.exclusiveMinimum === undefined ? `from ${low}` : `above ${low}`
  const to = schema.exclusiveMaximum === undefined ? `up to ${high}` : `below ${high}`
  // zod bounds every whole number by the largest that a double holds exactly: no news to a user.
  const hasLow = low > Number.MIN_SAFE_INTEGER
  const hasHigh = high < Number.MAX_SAFE_INTEGER
  if (hasLow && hasHigh) return ` ${from} ${to}`
  if (hasLow) return schema.exclusiveMinimum === undefined ? ` ${from} up` : ` ${from}`
  return hasHigh ? ` ${to}` : ''
}

const describeList = (schema: JsonSchema): string => {
  const count =
    schema.minItems !== undefined && schema.minItems === schema.maxItems ? ` of exactly ${schema.minItems}` : ''
  const least = count === '' && schema.minItems ? ` of at least ${schema.minItems}` : ''
  const item = schema.prefixItems?.[0] ?? (typeof schema.items === 'object' ? schema.items : undefined)
  return `a list${count}${least}${item === undefined ? '' : `, each ${describe(item)}`}`
}

const constants = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value).replaceAll('"', '')).join(', ')

/** Says in words what a schema accepts: `auto, or a whole number from 1 up`. */
export const describe = (schema: JsonSchema): string => {
  const variants = variantsOf(schema)
  if (variants.length > 0) {
    if (variants.every((variant) => variant.const !== undefined))
      return `one of ${constants(variants.map((v) => v.const))}`
    return [...new Set(variants.map(describe))].join(', or ')
  }
  if (schema.const !== undefined) return constants([schema.const])
  if (schema.enum !== undefined) return `one of ${constants(schema.enum)}`
  if (schema.format === 'uri') return 'an address such as http://127.0.0.1:8000'
  if (schema.pattern !== undefined) return `text that matches ${schema.pattern}`
  const types = [schema.type ?? []].flat()
  return types
    .map((type) => {
      if (type === 'array') return describeList(schema)
      if (type === 'string' && schema.minLength) return 'text that is not empty'
      return `${typeNames[type] ?? type}${type === 'number' || type === 'integer' ? range(schema) : ''}`
    })
    .join(', or ')
}
