import { neutralise } from '../../data/nodes/neutral.ts'
import type { Question } from '../../judge/audit/questions.ts'
import { fakeServer, type Answer, type RecordedCall } from './fake-server.ts'

/** What a question shows of a completion or prompt. */
const shown = (text: string): string => neutralise(text)

interface ChatBody {
  readonly model: string
  readonly max_tokens?: number
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}

const reply = (content: string): Answer => ({
  json: {
    ...{ id: 'c', object: 'chat.completion', created: 0, model: 'grader' },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
})

/**
 * A chat endpoint that grades: for each known question the score that was worked out beforehand. `questions` counts
 * what it was asked to grade.
 */
export const graderServer = async (scores: ReadonlyMap<Question, number>) => {
  let questions = 0
  // Longer completions first: a doctored one may contain its plain twin. A prompt's last message tells it from others.
  const known = [...scores]
    .toSorted(([a], [b]) => b.completion.length - a.completion.length)
    .map(([{ prompt, completion }, score]) => ({
      completion: `\n${shown(completion)}\n`,
      prompt: shown(prompt.messages.at(-1)?.content ?? ''),
      score,
    }))
  const grade = (user: string): number =>
    known.find(({ completion, prompt }) => user.includes(completion) && user.includes(prompt))?.score ?? 0
  const answer = ({ route, body }: RecordedCall): Answer => {
    if (!route.startsWith('POST')) return { status: 404, json: {} }
    const user = (body as ChatBody).messages.at(-1)?.content ?? ''
    const id = /<verdict><id>([^<]+)<\/id>/.exec(user)?.[1]
    if (id === undefined) return reply('OK')
    questions += 1
    return reply(`<verdict><id>${id}</id><score>${grade(user).toFixed(4)}</score><reason>graded</reason></verdict>`)
  }
  const server = await fakeServer(answer)
  return { url: `${server.url}/v1`, questions: () => questions, close: server.close }
}
