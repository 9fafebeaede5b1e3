import { parseCompletion } from '../../data/completion/parse.ts'
import { type JsonObject, readJsonObject } from '../../data/completion/strict-json.ts'
import { nodeContracts, type NodeId } from '../../data/records/node.ts'

/** What a completion says, wherever it says it. */
export interface FoundAnswer {
  readonly reasoning: string
  readonly value: JsonObject
}

/** How many opening braces are tried: more than any honest completion has, few enough to stay linear. */
const MAX_TRIES = 256

interface Candidate {
  readonly value: JsonObject
  readonly start: number
}

/** Strict objects in the text, outermost only, that have at least one of the node's keys. */
const findObjects = (text: string, keys: readonly string[]): readonly Candidate[] => {
  const found: Candidate[] = []
  let at = text.indexOf('{')
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; tries += 1) {
    const result = readJsonObject(text, at)
    if (result.ok && keys.some((key) => result.value.has(key))) found.push({ value: result.value, start: at })
    at = text.indexOf('{', result.ok ? result.end : at + 1)
  }
  return found
}

/**
 * The answer of a completion, strictly from its envelope where there is one. Otherwise, since content is judged and
 * form is not, the one object with the node's keys that the text holds. Null when there is none, or more than one:
 * two answers are no answer. The object itself is never repaired.
 */
export const findAnswer = (node: NodeId, completion: string): FoundAnswer | null => {
  const { envelope, answer } = parseCompletion(completion)
  if (envelope.body !== null && answer.ok) return { reasoning: envelope.body.reasoning, value: answer.value }
  const [only, second] = findObjects(completion, nodeContracts[node].answerKeys)
  if (only === undefined || second !== undefined) return null
  return { reasoning: envelope.body?.reasoning ?? completion.slice(0, only.start), value: only.value }
}
