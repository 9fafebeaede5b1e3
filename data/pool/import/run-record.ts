import { z } from 'zod'
import { PipelineError } from '../../errors.ts'

/** Text as older files have it, or a list of parts as newer ones do. */
const Content = z.union([
  z.string(),
  z.array(z.object({ type: z.string(), content: z.string().optional(), text: z.string().optional() })),
])

const ToolCall = z.object({ function: z.string(), args: z.record(z.string(), z.unknown()), id: z.string().nullish() })
export type ToolCall = z.infer<typeof ToolCall>

const RunMessage = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: Content.nullish(),
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().nullish(),
  tool_call: ToolCall.nullish(),
  error: z.string().nullish(),
})
export type RunMessage = z.infer<typeof RunMessage>

const RunRecord = z.object({
  suite_name: z.string(),
  pipeline_name: z.string(),
  user_task_id: z.string(),
  injection_task_id: z.string().nullish(),
  attack_type: z.string().nullish(),
  injections: z.record(z.string(), z.string()).nullish(),
  messages: z.array(RunMessage),
})
export type RunRecord = z.infer<typeof RunRecord>

/** The text of a message's content, whichever shape it has. */
export const contentText = (content: RunMessage['content']): string => {
  if (content == null) return ''
  return typeof content === 'string' ? content : content.map((part) => part.content ?? part.text ?? '').join('\n')
}

const parseJson = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new PipelineError('pool', `${path}: not JSON`, { cause, remedy: 'Fetch the file again.' })
  }
}

/** Reads one run file. Unknown fields are let through: recorders add their own. */
export const parseRun = (text: string, path: string): RunRecord => {
  const result = RunRecord.safeParse(parseJson(text, path))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new PipelineError('pool', `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a run'}`, {
    remedy: 'Runs are files in the AgentDojo format.',
  })
}
