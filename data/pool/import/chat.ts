import { basename } from 'node:path'
import { z } from 'zod'
import type { Call } from '../../records/operation.ts'
import type { CallKind, EndpointDoc, ObservedCall, Step, Trajectory } from '../../records/trajectory.ts'
import type { Reject } from '../draft.ts'
import { readTranscripts, textOf } from './chat-record.ts'
import type { Tool, ToolCall, Transcript } from './chat-record.ts'
import { flattenArgs } from './values.ts'

const source = 'chat'

export interface ChatImportOptions {
  readonly limit?: number
  readonly reject?: Reject
}

/** `app.endpoint`, `app__endpoint`, `app/endpoint` or a bare name, which then is an endpoint of the app `tools`. */
const nameOf = (name: string): { app: string; endpoint: string } => {
  const [, app, endpoint] = /^(.+?)(?:\.|__|\/)(.+)$/.exec(name) ?? []
  return app === undefined || endpoint === undefined ? { app: 'tools', endpoint: name } : { app, endpoint }
}

const readVerbs =
  /^(get|list|search|find|read|show|view|fetch|query|lookup|look_up|check|count|describe|browse|open)(_|-|[A-Z]|$)/
const sessionVerbs = /^(log_?in|log_?out|authenticate|sign_?in|cd)(_|-|$)/i

/** Transcripts do not say what a tool does, so its name must: an unknown verb counts as a write, the graver error. */
const kindOf = (endpoint: string): CallKind => {
  if (sessionVerbs.test(endpoint)) return 'session'
  return readVerbs.test(endpoint) ? 'read' : 'write'
}

const parseArguments = (given: ToolCall['function']['arguments']): Call['args'] => {
  if (typeof given !== 'string') return flattenArgs(given)
  try {
    const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(given === '' ? '{}' : given))
    return parsed.success ? flattenArgs(parsed.data) : { arguments: given }
  } catch {
    // What the agent wrote is evidence, even when it is not JSON.
    return { arguments: given }
  }
}

const observe = (call: ToolCall, observation: string, failed: boolean): ObservedCall => {
  const name = nameOf(call.function.name)
  const kind = kindOf(name.endpoint)
  const ok = !failed
  const stateChanged = kind === 'write' && ok
  const made = { ...name, args: parseArguments(call.function.arguments) }
  return { call: made, kind, observation, ok, stateChanged, drift: null, injected: null }
}

const failure = /^\s*(error|exception|traceback|failed)\b|^\s*\{\s*"error"\s*:/i

/** A step is one assistant message with the results of its calls; calls without a result were not executed. */
const toSteps = ({ messages }: Transcript): Step[] => {
  const results = new Map(
    messages.flatMap((m) => (m.role === 'tool' && m.tool_call_id != null ? [[m.tool_call_id, m]] : [])),
  )
  const turns = messages.filter(({ role }) => role === 'assistant')
  return turns.map((turn, i) => ({
    step: i + 1,
    thought: textOf(turn.content),
    calls: (turn.tool_calls ?? []).flatMap((call) => {
      const result = results.get(call.id)
      if (result === undefined) return []
      const text = textOf(result.content)
      return [observe(call, text, result.is_error ?? failure.test(text))]
    }),
  }))
}

const toDoc = ({ function: tool }: Tool): EndpointDoc => {
  const name = nameOf(tool.name)
  const params = Object.keys(tool.parameters?.properties ?? {})
  const summary = (tool.description ?? '').split('\n', 1)[0] ?? ''
  return { ...name, summary, kind: kindOf(name.endpoint), params, undoneBy: null }
}

const toTrajectory = (transcript: Transcript, id: string): Trajectory => ({
  id,
  source,
  taskId: id,
  payloadId: null,
  task: transcript.messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => textOf(content))
    .join('\n\n'),
  case: 'recorded',
  driftType: null,
  steps: toSteps(transcript),
  onset: null,
  exposedStep: null,
  labelled: false,
  docs: (transcript.tools ?? []).map(toDoc),
  split: null,
})

/**
 * Reads chat transcripts in the shape of the OpenAI chat API (messages with tool_calls and tool results). They carry no
 * labels, so their prompts have no target. Reads and writes are told apart by the tools' names.
 */
export function* importChat(path: string, options: ChatImportOptions = {}): Generator<Trajectory> {
  const { limit = Infinity, reject } = options
  let given = 0
  for (const [i, transcript] of readTranscripts(path).entries()) {
    if (given >= limit) return
    const trajectory = toTrajectory(transcript, `${source}/${basename(path)}/${transcript.id ?? i + 1}`)
    if (trajectory.task.trim() === '') reject?.({ node: null, reason: 'run_without_task' })
    else if (trajectory.steps.every(({ calls }) => calls.length === 0))
      reject?.({ node: null, reason: 'run_without_calls' })
    else {
      given++
      yield trajectory
    }
  }
}
