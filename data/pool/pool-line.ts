import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { isRecord } from '../json.ts'
import { promptId } from '../nodes/render.ts'
import { PipelineError } from '../errors.ts'
import { nodeContracts, nodeIds, parseNode } from '../records/node.ts'
import { Prompt } from '../records/prompt.ts'

type Fields = Record<string, unknown>

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`
}

/** Where a fault is, as `file:line: field`. */
const fault = (where: string, field: string, what: string, remedy: string): PipelineError =>
  new PipelineError('pool', `${where}: ${field === '' ? '' : `${field}: `}${what}`, { remedy })

const knownNodes = nodeIds.map((id) => `${id} (${nodeContracts[id].tag})`).join(', ')

/** A node in a pool is an id or a tag, on the prompt, its facts and its target. */
const readNode = (value: unknown, field: string, where: string): string => {
  const node = typeof value === 'string' ? parseNode(value) : undefined
  if (node === undefined) throw fault(where, field, `unknown node ${show(value)}`, `Use one of ${knownNodes}.`)
  return node
}

const withNode = (value: unknown, field: string, node: string, where: string): unknown => {
  if (!isRecord(value)) return value
  const own = value['node'] === undefined ? node : readNode(value['node'], `${field}.node`, where)
  if (own !== node)
    throw fault(
      where,
      `${field}.node`,
      `${own} does not fit node ${node}`,
      `Give the ${field} of the prompt's own node.`,
    )
  return { ...value, node }
}

const roles = (messages: readonly { readonly role: string }[]): string => messages.map(({ role }) => role).join(', ')

/** What a user's own prompt may leave out. Its id stands for its task and trajectory, so that it is its own origin. */
const complete = (fields: Fields, where: string): unknown => {
  if (fields['node'] === undefined) throw fault(where, 'node', 'is missing', `Use one of ${knownNodes}.`)
  const node = readNode(fields['node'], 'node', where)
  const facts = withNode(fields['facts'], 'facts', node, where)
  const seed = createHash('sha256')
    .update(JSON.stringify([node, fields['messages']]))
    .digest('hex')
    .slice(0, 16)
  const defaults = {
    id: null,
    templateVersion: 'own',
    split: 'train',
    origin: {
      source: 'own',
      taskId: seed,
      payloadId: null,
      trajectoryIds: [seed],
      case: 'recorded',
      step: isRecord(facts) ? (facts['step'] ?? null) : null,
      afterExposure: false,
      upstreamMistake: false,
    },
  }
  const target = fields['target'] == null ? null : withNode(fields['target'], 'target', node, where)
  return { ...defaults, ...fields, node, facts, target }
}

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (isRecord(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : undefined),
    value,
  )

const schemaFault = (error: z.ZodError, value: unknown, where: string): PipelineError => {
  const [issue] = error.issues
  const path = issue?.path ?? []
  const found = at(value, path)
  const what = found === undefined ? 'is missing' : `${issue?.message ?? 'is wrong'}, found ${show(found)}`
  return fault(where, path.map(String).join('.'), what, 'Correct the line, or remove it.')
}

/** Made once: every schema compiles itself when it is first used. */
const Draft = Prompt.omit({ id: true }).loose()

/** Ids are derived, so that equal prompts are one prompt; a given one must be right. */
const withId = (value: Fields, where: string): Prompt => {
  const draft = Draft.safeParse(value)
  if (!draft.success) throw schemaFault(draft.error, value, where)
  const { node, messages, templateVersion } = draft.data
  if (messages[0]?.role !== 'system' || messages[1]?.role !== 'user')
    throw fault(where, 'messages', `must start with system, user; found ${roles(messages)}`, 'Give both messages.')
  const id = promptId(node, messages, templateVersion)
  if (value['id'] !== null && value['id'] !== id)
    throw fault(where, 'id', `${show(value['id'])} is not the id of this content`, `Leave the id out, or write ${id}.`)
  const whole = Prompt.safeParse({ ...value, id })
  if (!whole.success) throw schemaFault(whole.error, value, where)
  return whole.data
}

/** Reads one prompt of a pool, its JSON already parsed; `where` stands in front of every error. */
export const parsePoolPrompt = (value: unknown, where: string): Prompt => {
  const fields = isRecord(value) ? complete(value, where) : undefined
  if (!isRecord(fields)) throw fault(where, '', `a prompt is an object, found ${show(value)}`, 'Correct the line.')
  return withId(fields, where)
}

/** Reads one line of a pool; `where` (`file:line`) stands in front of every error. */
export const parsePoolLine = (text: string, where: string): Prompt => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new PipelineError('pool', `${where}: not a whole JSON object, found ${show(text.slice(0, 60))}`, {
      cause,
      remedy: 'The line is truncated or damaged: build the pool again, or remove the line.',
    })
  }
  try {
    return parsePoolPrompt(value, where)
  } catch (cause) {
    // Reading JSON takes any depth, writing it or walking through it does not.
    if (cause instanceof RangeError) throw fault(where, '', 'nested too deeply for a prompt', 'Remove the line.')
    throw cause
  }
}
