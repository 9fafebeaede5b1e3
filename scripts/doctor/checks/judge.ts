import { milliseconds } from '../../../data/duration.ts'
import { Endpoint } from '../../../judge/llm/endpoint.ts'
import { readApiKey } from '../../../judge/llm/api-key.ts'
import { fail, ok, skip, warn, type Check } from '../check.ts'

/** A question with many right answers: a server that draws one at random gives itself away. */
const question = [{ role: 'user' as const, content: 'Name five everyday objects, separated by commas. Only the list.' }]
const longestAnswer = 64

export const judgeCheck: Check = {
  name: 'judge',
  beforeTraining: false,
  run: async ({ config: { judge }, cwd, env, signal }) => {
    if (judge.kind !== 'llm') return skip(`judge ${judge.kind}: no language model is asked`)
    if (judge.server !== null) return skip('the judge server is started with the run')
    const { baseUrl, model, timeoutSeconds } = judge
    const apiKey = (): Promise<string> => readApiKey(judge, { cwd, env })
    const endpoint = new Endpoint({
      baseUrl,
      model,
      maxTokens: longestAnswer,
      timeoutMs: milliseconds(timeoutSeconds),
      apiKey,
    })
    try {
      const first = await endpoint.ask(question, signal)
      const second = await endpoint.ask(question, signal)
      return first.text === second.text
        ? ok(`${model} at ${baseUrl} answers, twice the same`)
        : warn(
            `${model} answers one question in two ways at temperature 0`,
            'Rewards will depend on a draw: verdicts are cached, but compare runs with care.',
          )
    } catch (error) {
      signal.throwIfAborted()
      return fail(
        `${baseUrl}: ${(error as Error).message}`,
        'Start it, or correct judge.baseUrl, judge.model or the key.',
      )
    }
  },
}
