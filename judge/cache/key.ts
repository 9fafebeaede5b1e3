import { createHash } from 'node:crypto'
import type { Prompt } from '../../data/records/prompt.ts'
import { rubrics } from '../rubrics.ts'

/** Everything beside the question itself that a verdict depends on. */
export interface JudgeIdentity {
  readonly model: string
  /** What the endpoint says about the model that it serves under this name; null: nothing. */
  readonly fingerprint: string | null
  readonly decoding: { readonly temperature: number; readonly maxTokens: number }
}

/** Changes with the meaning of a key. */
const FORMAT = 1

/**
 * Key of one verdict, as 64 hex digits: two questions share it only if judge, wording, rubric, decoding, node, prompt and
 * completion are all the same.
 */
export const verdictKey = (judge: JudgeIdentity, { node, messages }: Prompt, completion: string): string => {
  const { frameVersion, nodes } = rubrics()
  const { model, fingerprint, decoding } = judge
  const said = messages.map(({ role, content }) => [role, content])
  const parts = [
    FORMAT,
    [model, fingerprint, decoding.temperature, decoding.maxTokens],
    [frameVersion, nodes[node].hash],
    [node, said, completion],
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
