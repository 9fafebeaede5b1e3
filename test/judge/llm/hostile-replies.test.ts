import { assert as assertProperty, asyncProperty, constantFrom } from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Endpoint } from '../../../judge/llm/endpoint.ts'
import { CallFailure } from '../../../judge/llm/failure.ts'
import { readVerdict } from '../../../judge/verdict.ts'
import { fakeServer, type Answer } from '../../support/fake-server.ts'
import { damaged, spoilt } from '../../support/spoilt.ts'

vi.setConfig({ testTimeout: 300_000 })

const verdict = '<verdict><id>ab12</id><score>0.5</score><reason>x</reason></verdict>'
const chat = {
  ...{ id: 'c', object: 'chat.completion', created: 0, model: 'judge' },
  choices: [{ index: 0, message: { role: 'assistant', content: verdict }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
}
const refusal = { error: { message: 'no', code: 'x', type: 'y', param: null } }
const models = { object: 'list', data: [{ id: 'judge', root: 'org/judge', owned_by: 'us' }] }

let server: Awaited<ReturnType<typeof fakeServer>>
let answer: Answer = 'cut'
let endpoint: Endpoint
beforeAll(async () => {
  server = await fakeServer(() => answer)
  endpoint = new Endpoint({
    ...{ baseUrl: `${server.url}/v1`, model: 'judge', maxTokens: 100, timeoutMs: 60_000 },
    apiKey: () => Promise.resolve('a-key-of-the-judge'),
  })
})
afterAll(() => server.close())

/** The value where there is one that can be sent, else the text. */
const jsonOr = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === undefined ? text : value
  } catch {
    return text
  }
}

/** Fine are an answer with a score within bounds or none, and a failure of a known kind in few words. */
const outcomeOf = async (): Promise<string> => {
  try {
    const { text, promptTokens } = await endpoint.ask([{ role: 'user', content: 'x' }])
    const read = readVerdict(text)
    const isFine = typeof promptTokens === 'number' && (!read.ok || (read.score >= 0 && read.score <= 1))
    return isFine ? 'fine' : 'a score or a count that is none'
  } catch (error) {
    return error instanceof CallFailure && error.message.length < 1000 ? 'fine' : String(error)
  }
}

it.each([200, 400, 429, 500])('spoilt replies of status %i are an answer or a failure of its kind', async (status) => {
  const text = status === 200 ? spoilt(chat) : spoilt(refusal)
  await assertProperty(
    asyncProperty(text, async (said) => {
      // The client takes for JSON what says that it is.
      answer = { status, json: jsonOr(said) }
      expect(await outcomeOf()).toBe('fine')
      answer = { status, text: said }
      expect(await outcomeOf()).toBe('fine')
    }),
    { numRuns: 50 },
  )
})

it('spoilt verdicts are read or refused', async () => {
  await assertProperty(
    asyncProperty(constantFrom(verdict, `<think>a</think>${verdict}`).chain(damaged), async (content) => {
      answer = { json: { ...chat, choices: [{ message: { content } }] } }
      expect(await outcomeOf()).toBe('fine')
    }),
    { numRuns: 50 },
  )
})

it('a spoilt list of models describes ours, or nothing, or is a failure of its kind', async () => {
  await assertProperty(
    asyncProperty(spoilt(models), async (text) => {
      answer = { json: jsonOr(text) }
      const described = await endpoint.describeModel().catch((error: Error) => error)
      const isFine = described === null || typeof described === 'string' || described instanceof CallFailure
      expect(isFine ? 'fine' : described.message).toBe('fine')
    }),
    { numRuns: 50 },
  )
})
