import { countWords } from '../completion/text.ts'
import type { Call } from '../records/operation.ts'
import { formatOperation } from '../records/operation.ts'
import { neutraliseLine } from './neutral.ts'

/** Answers may hold items of at most 20 words; an operation that is longer could not be copied into one. */
const wordLimit = 18
const valueLimits = [160, 96, 64, 40, 24, 12]

const shortenValue = (value: string, limit: number): string => {
  const characters = Array.from(value)
  return characters.length <= limit
    ? value
    : `${characters.slice(0, limit).join('').trimEnd()}[…${characters.length - limit}]`
}

// An arrow in a value could pass for the one that leads to the result.
const showValue = (value: string | number | boolean): string => neutraliseLine(String(value)).replaceAll('->', '→')

const shortenCall = (call: Call, limit: number): Call => ({
  ...call,
  args: Object.fromEntries(Object.entries(call.args).map(([key, value]) => [key, shortenValue(String(value), limit)])),
})

const show = (call: Call): string => {
  const shown: Call = {
    app: neutraliseLine(call.app),
    endpoint: neutraliseLine(call.endpoint),
    args: Object.fromEntries(Object.entries(call.args).map(([key, value]) => [neutraliseLine(key), showValue(value)])),
  }
  let operation = formatOperation(shown)
  for (const limit of valueLimits) {
    if (countWords(operation) <= wordLimit) return operation
    operation = formatOperation(shortenCall(shown, limit))
  }
  return operation
}

// One call is shown in many prompts; records are never changed once they are made.
const known = new WeakMap<Call, string>()

/**
 * An operation as prompts, facts and targets write it: one line, neutralised, long values cut with a mark that gives
 * the number of missing characters (`[…120]`), so that the whole can be copied into an answer.
 */
export const showOperation = (call: Call): string => {
  const operation = known.get(call) ?? show(call)
  known.set(call, operation)
  return operation
}
