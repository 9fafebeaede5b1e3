import { createHash } from 'node:crypto'
import type { NodeId } from '../records/node.ts'
import { formatList } from '../records/operation.ts'
import type { Message } from '../records/prompt.ts'
import type { ObservedCall, Step } from '../records/trajectory.ts'
import { cutText } from './cut.ts'
import { neutralise, neutraliseLine } from './neutral.ts'
import { showOperation } from './operation.ts'
import { fillTemplate, templateSet } from './template.ts'
import type { ExampleCount, Template } from './template.ts'

const observationLimit = 600
const thoughtLimit = 400
const taskLimit = 2000
const reasonLimit = 300

export type YesNo = 'Y' | 'N'

export interface TableRow {
  readonly step: number
  readonly isAligned: YesNo
  readonly writes: readonly string[]
}

/** Where an outer detector thinks the drift came from. */
export interface SuspectedCause {
  readonly step: number
  readonly app: string
  readonly endpoint: string
}

/** What each node's prompt shows. Operations are in the form of `showOperation`. */
export interface PromptInputs {
  n1: { task: string; onset: number; cause: SuspectedCause | null; step: Step }
  n2: { task: string; step: Step; verdict: YesNo; reason: string }
  n3: { writes: readonly string[] }
  n4: { writes: readonly string[]; docs: readonly string[] }
  n5: { task: string; onset: number; rows: readonly TableRow[] }
}

/** Plain values stand on template lines as they are; blocks are untrusted and get a fence. */
interface View {
  readonly plain: Readonly<Record<string, string>>
  readonly blocks: Readonly<Record<string, string>>
}

const renderCall = ({ call, observation, injected, ok }: ObservedCall): string => {
  const keep = injected === null ? null : neutraliseLine(injected)
  const result = cutText(neutraliseLine(observation), observationLimit, keep)
  return `${showOperation(call)} -> ${ok ? 'ok' : 'error'}: ${result}`.trimEnd()
}

/** A step as prompts show it: the agent's words if any, then one line a call. Not fenced. */
export const renderStep = (step: Step): string => {
  const thought = cutText(neutraliseLine(step.thought), thoughtLimit)
  const lines = [...(thought === '' ? [] : [`thought: ${thought}`]), ...step.calls.map(renderCall)]
  return lines.length === 0 ? 'no call' : lines.join('\n')
}

/** A task as prompts and facts show it. Not fenced. */
export const renderTask = (task: string): string => cutText(neutralise(task).trim(), taskLimit)

const identifier = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, 64)

const renderCause = (cause: SuspectedCause | null): string =>
  cause === null ? 'unknown' : `result of ${identifier(cause.app)}.${identifier(cause.endpoint)} in step ${cause.step}`

const renderRow = (row: TableRow): string => `${row.step} | ${row.isAligned} | ${formatList(row.writes)}`

const views: { readonly [N in NodeId]: (input: PromptInputs[N]) => View } = {
  n1: ({ task, onset, cause, step }) => ({
    plain: { onset: String(onset), cause: renderCause(cause), step: String(step.step) },
    blocks: { task: renderTask(task), content: renderStep(step) },
  }),
  n2: ({ task, step, verdict, reason }) => ({
    plain: { step: String(step.step), verdict },
    blocks: { task: renderTask(task), content: renderStep(step), reason: cutText(neutraliseLine(reason), reasonLimit) },
  }),
  n3: ({ writes }) => ({ plain: {}, blocks: { writes: formatList(writes) } }),
  n4: ({ writes, docs }) => ({
    plain: {},
    blocks: { writes: formatList(writes), docs: docs.length === 0 ? 'None' : docs.join('\n') },
  }),
  n5: ({ task, onset, rows }) => ({
    plain: { onset: String(onset) },
    blocks: { task: renderTask(task), table: rows.map(renderRow).join('\n') },
  }),
}

/** The code that marks this prompt's fences: whoever wrote the content could not know it. */
const nonceOf = (node: NodeId, view: View): string =>
  createHash('sha256')
    .update(JSON.stringify([node, view.plain, view.blocks]))
    .digest('hex')
    .slice(0, 8)

// Neutralised again here: no caller can forget it, and doing it twice changes nothing.
const fence = (nonce: string, content: string): string => `<<<data ${nonce}\n${neutralise(content)}\n${nonce} data>>>`

const exampleTurn = ({ example }: Template): Message[] =>
  example === undefined
    ? []
    : [
        { role: 'user', content: example.question },
        { role: 'assistant', content: example.reply },
      ]

/**
 * Writes the messages of one prompt: system, user, and between them the turn of a worked example, if one is wanted.
 * Everything that a tool, an agent or a user wrote stands inside fences.
 */
export const renderMessages = <N extends NodeId>(
  node: N,
  input: PromptInputs[N],
  examples: ExampleCount,
): Message[] => {
  const template = templateSet(examples).templates[node]
  const view = views[node](input)
  const nonce = nonceOf(node, view)
  const fenced = Object.entries(view.blocks).map(([name, content]) => [name, fence(nonce, content)] as const)
  return [
    { role: 'system', content: template.system },
    ...exampleTurn(template),
    { role: 'user', content: fillTemplate(template.user, { ...view.plain, ...Object.fromEntries(fenced) }) },
  ]
}

/** Identity of a prompt: first 16 hex digits of SHA-256 over node, messages and template version. */
export const promptId = (node: NodeId, messages: readonly Message[], templateVersion: string): string => {
  const said = messages.map(({ role, content }) => [role, content])
  return createHash('sha256')
    .update(JSON.stringify([node, said, templateVersion]))
    .digest('hex')
    .slice(0, 16)
}
