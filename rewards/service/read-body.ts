import type { Context } from 'hono'
import type { z } from 'zod'
import { ServiceError } from './errors.ts'
import { costlyShape, maxDepth, maxMembers } from './shape.ts'

const mostIssues = 10
/** An issue may name every unknown key of a body: a refusal must not be as long as what it refuses. */
const longestMessage = 300

const decode = (bytes: ArrayBuffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ServiceError('invalid_json', 'the body is not UTF-8', { cause })
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new ServiceError('invalid_json', 'the body is not JSON', { cause })
  }
}

const receive = async (c: Context): Promise<ArrayBuffer> => {
  try {
    return await c.req.arrayBuffer()
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('invalid_json', 'the body ended before it was whole', { cause })
  }
}

/** A request's JSON, as text and as a value. */
export interface JsonBody {
  readonly text: string
  readonly value: unknown
}

/** Reads a JSON body. Wants the media type too: a web page cannot send that to another origin without asking first. */
export const readJson = async (c: Context): Promise<JsonBody> => {
  const type = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new ServiceError('unsupported_media_type', `the body must be application/json, not ${type ?? 'untyped'}`)
  }
  const text = decode(await receive(c))
  const costly = costlyShape(text)
  if (costly === 'depth')
    throw new ServiceError('invalid_body', `the body is nested deeper than ${maxDepth} containers`)
  if (costly === 'members')
    throw new ServiceError('too_large', `an object of the body has more than ${maxMembers} members`)
  return { text, value: parse(text) }
}

/** Checks a value against a schema; everything that is wrong is one refusal that lists the places. */
export const check = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues
    .slice(0, mostIssues)
    .map(({ path, message }) => ({ path: path.join('.'), message: message.slice(0, longestMessage) }))
  const [first] = issues
  throw new ServiceError('invalid_body', `${first?.path || 'the body'}: ${first?.message ?? 'is wrong'}`, { issues })
}
