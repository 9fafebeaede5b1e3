import { LRUCache } from 'lru-cache'
import { isRecord } from '../../data/json.ts'
import { PipelineError } from '../../data/errors.ts'
import { parsePoolPrompt } from '../../data/pool/pool-line.ts'
import type { Message, Prompt } from '../../data/records/prompt.ts'
import { costlyShape } from './shape.ts'

type Fields = Readonly<Record<string, unknown>>

/** A prompt, or why the value is none. */
export type PromptReading = { readonly prompt: Prompt } | { readonly problem: string }

/** Looks up a prompt of the opened pool. */
export type FindPrompt = (id: string) => Prompt | undefined

/**
 * Columnar data sets keep objects of several shapes as one shape with all keys, the absent ones null. No fact and no
 * target has null as a value of its own, so these nulls are absences.
 */
const withoutNulls = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null)) : value

const lookUp = (id: unknown, find: FindPrompt): PromptReading => {
  const prompt = typeof id === 'string' ? find(id) : undefined
  if (prompt !== undefined) return { prompt }
  return { problem: `no prompt of the opened pool has the id ${JSON.stringify(id)?.slice(0, 80)}` }
}

const parseInline = (fields: Fields): PromptReading => {
  const draft = { ...fields, facts: withoutNulls(fields['facts']), target: withoutNulls(fields['target']) }
  try {
    return { prompt: parsePoolPrompt(draft, 'prompt') }
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error
    return { problem: error.message.replace(/^prompt: /, '') }
  }
}

const poolId = /^[0-9a-f]{16}$/

/** Text inside a body has not been looked at yet: it may be no JSON, or too deep. */
const parseLabel = (label: string): unknown => {
  try {
    return costlyShape(label) !== null ? undefined : (JSON.parse(label) as unknown)
  } catch {
    return undefined
  }
}

/** Reads what requests send as a prompt. */
export interface PromptReader {
  /** A prompt as `/v1/score` takes it: an object with `facts`, or one with only the id of a prompt of the pool. */
  readonly readPrompt: (value: unknown) => PromptReading
  /**
   * A prompt from the label of a trainer's sample: the id of a prompt of the pool; or an object, or the JSON text of
   * one, as `/v1/score` takes it. An object without `messages` gets those that the trainer sends beside the label.
   */
  readonly readLabel: (label: unknown, messages: () => readonly Message[]) => PromptReading
}

/** Characters of prompts that are remembered: some ten thousand prompts of usual length. */
const remembered = 2 ** 25

/**
 * Makes a reader over the prompts of a pool. Checking a prompt costs ten times as much as scoring a completion of it,
 * and every prompt comes as often as it has completions: the ones that were fine are remembered by their JSON text.
 */
export const createPromptReader = (find: FindPrompt): PromptReader => {
  const known = new LRUCache<string, { readonly prompt: Prompt }>({
    maxSize: remembered,
    sizeCalculation: (_, text) => Math.max(1, text.length),
  })

  const readInline = (fields: Fields): PromptReading => {
    const text = JSON.stringify(fields)
    const before = known.get(text)
    if (before !== undefined) return before
    const reading = parseInline(fields)
    if ('prompt' in reading) known.set(text, reading)
    return reading
  }

  const readPrompt = (value: unknown): PromptReading => {
    if (!isRecord(value)) return { problem: 'must be an object with node, messages and facts, or with an id' }
    return 'facts' in value ? readInline(value) : lookUp(value['id'], find)
  }

  const readLabel: PromptReader['readLabel'] = (label, messages) => {
    if (typeof label === 'string' && poolId.test(label)) return lookUp(label, find)
    const value = typeof label === 'string' ? parseLabel(label) : label
    if (!isRecord(value)) {
      return { problem: 'must be the id of a prompt, or an object (or its JSON text) with node and facts' }
    }
    if (!('facts' in value) || Array.isArray(value['messages'])) return readPrompt(value)
    // The id belongs to other messages than the trainer's rendering of them.
    return readInline({ ...value, id: null, messages: messages() })
  }

  return { readPrompt, readLabel }
}

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

const roles = { system: 'system', developer: 'system', assistant: 'assistant' } as const

const messageOf = (value: unknown): Message => {
  if (!isRecord(value)) return { role: 'user', content: typeof value === 'string' ? value : '' }
  const role = value['role']
  return {
    role: role === 'system' || role === 'developer' || role === 'assistant' ? roles[role] : 'user',
    content: textOf(value['content']),
  }
}

/** The messages behind what a trainer calls the prompt: a rendered text, or messages in one of the usual forms. */
export const messagesOf = (prompt: unknown): readonly Message[] => {
  const messages = (Array.isArray(prompt) ? prompt : [prompt]).map(messageOf)
  return messages[0]?.role === 'system' ? messages : [{ role: 'system', content: '' }, ...messages]
}
