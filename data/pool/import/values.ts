import type { Call } from '../../records/operation.ts'

type ArgValue = Call['args'][string]

const flatten = (value: unknown): ArgValue => {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  return typeof value === 'number' && Number.isFinite(value) ? value : JSON.stringify(value)
}

/** Arguments as operations write them: plain values as they are, lists and objects as JSON, absent ones left out. */
export const flattenArgs = (args: Readonly<Record<string, unknown>>): Call['args'] =>
  Object.fromEntries(
    Object.entries(args).flatMap(([key, value]) =>
      value === null || value === undefined ? [] : [[key, flatten(value)]],
    ),
  )
