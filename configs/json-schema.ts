import { z } from 'zod'

/** The part of JSON Schema that zod writes for a config. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly propertyNames?: JsonSchema
  readonly additionalProperties?: boolean | JsonSchema
  readonly prefixItems?: readonly JsonSchema[]
  readonly items?: boolean | JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

/** The alternatives of a union; none for any other schema. */
export const variantsOf = (schema: JsonSchema): readonly JsonSchema[] => schema.oneOf ?? schema.anyOf ?? []

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

/** The JSON Schema of what a user may write: what has a default may be left out. */
export const inputSchema = (schema: z.ZodType): JsonSchema => {
  const written: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return isSchema(written) ? written : {}
}
