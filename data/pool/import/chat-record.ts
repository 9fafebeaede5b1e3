import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { PipelineError } from '../../errors.ts'

const Content = z.union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))]).nullish()

const ToolCall = z.object({
  id: z.string(),
  function: z.object({ name: z.string().min(1), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
})
export type ToolCall = z.infer<typeof ToolCall>

const ChatMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Content,
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().nullish(),
  /** Not part of the API; many recorders note a failed call like this. */
  is_error: z.boolean().optional(),
})

const Tool = z.object({
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.object({ properties: z.record(z.string(), z.unknown()).optional() }).optional(),
  }),
})
export type Tool = z.infer<typeof Tool>

const Transcript = z.object({
  id: z.string().optional(),
  messages: z.array(ChatMessage),
  tools: z.array(Tool).optional(),
})
export type Transcript = z.infer<typeof Transcript>

/** The text of a message's content, a string or a list of parts. */
export const textOf = (content: z.infer<typeof Content>): string =>
  content == null ? '' : typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n')

const parseTranscript = (value: unknown, where: string): Transcript => {
  const result = Transcript.safeParse(Array.isArray(value) ? { messages: value } : value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new PipelineError('pool', `${where}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a transcript'}`, {
    remedy: 'A transcript is a list of chat messages, or {"messages": […], "tools": […]}.',
  })
}

const parseJson = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new PipelineError('pool', `${where}: not JSON`, { cause, remedy: 'Correct or remove it.' })
  }
}

const readValues = (path: string): { value: unknown; where: string }[] => {
  const text = readFileSync(path, 'utf8')
  if (path.endsWith('.jsonl'))
    return text.split('\n').flatMap((line, i) => {
      const where = `${path}:${i + 1}`
      return line.trim() === '' ? [] : [{ value: parseJson(line, where), where }]
    })
  const value = parseJson(text, path)
  const many =
    Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && 'messages' in item)
  return many ? value.map((item: unknown, i) => ({ value: item, where: `${path}[${i}]` })) : [{ value, where: path }]
}

/** The transcripts of a file: one a line in .jsonl, else one transcript or a list of them. Errors name file and place. */
export const readTranscripts = (path: string): Transcript[] =>
  readValues(path).map(({ value, where }) => parseTranscript(value, where))
