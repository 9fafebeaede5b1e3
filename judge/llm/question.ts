import { createHash } from 'node:crypto'
import { neutralise } from '../../data/nodes/neutral.ts'
import { fillTemplate } from '../../data/nodes/template.ts'
import { nodeContracts } from '../../data/records/node.ts'
import type { Message, Prompt } from '../../data/records/prompt.ts'
import { rubrics } from '../rubrics.ts'

const short = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)

/**
 * The code that one try of one question carries and its verdict must copy. It depends on the content, so nobody who wrote
 * the content could know it, and on the try, so that a late reply to an earlier try is not taken for this one's, and a
 * deterministic judge that garbled its reply is not asked the very same thing again.
 */
export const questionId = (key: string, attempt: number): string => short('question', key, String(attempt))

// What was made harmless cannot close a fence, form a verdict or a chat token, nor hide text.
const fence = (code: string, content: string): string => `<<<data ${code}\n${neutralise(content)}\n${code} data>>>`

const showPrompt = (messages: readonly Message[]): string =>
  messages.map(({ role, content }) => `[${role} message]\n${content}`).join('\n\n')

/**
 * The messages that ask for one verdict. The prompt's fence has a code of its own: all questions about one prompt begin
 * alike, and a server that caches prefixes reads it once.
 */
export const renderQuestion = ({ node, messages }: Prompt, completion: string, id: string): Message[] => {
  const { frame, nodes } = rubrics()
  const shown = showPrompt(messages)
  const user = fillTemplate(frame.user, {
    prompt: fence(short('prompt', node, shown), shown),
    completion: fence(id, completion),
    node,
    tag: nodeContracts[node].tag,
    rubric: nodes[node].text,
    id,
  })
  return [
    { role: 'system', content: frame.system },
    { role: 'user', content: user },
  ]
}
