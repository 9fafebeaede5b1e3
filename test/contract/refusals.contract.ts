import { expect, test } from 'vitest'
import { ask } from './ask.ts'
import { errorOf } from './http-client.ts'
import type { SamplerTarget } from './target.ts'

const long = Array.from({ length: 1030 }, () => 5)

/** Fields, the message, and the parameter that is named. */
const badRequests: readonly (readonly [Record<string, unknown>, unknown, string | null])[] = [
  [{ n: 0 }, 'n must be at least 1, got 0.', null],
  [
    { temperature: -1 },
    'temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)',
    'temperature',
  ],
  [{ max_tokens: 0 }, 'max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)', 'max_tokens'],
  [{ top_p: 0 }, 'top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)', 'top_p'],
  [
    { logprobs: 100 },
    'Requested sample logprobs of 100, which is greater than max allowed: 20 (parameter=logprobs, value=100)',
    'logprobs',
  ],
  [{ prompt: [5, 99_999] }, 'Token id 99999 is out of vocabulary', null],
  [{ prompt: [] }, 'You must pass at least one prompt', null],
  [
    { prompt: long, max_tokens: 1 },
    // Versions word it differently.
    expect.stringMatching(
      /^This model's maximum context length is 1024 tokens\. However, .*1030 input tokens, .*\(parameter=input_tokens, value=1030\)$/,
    ),
    'input_tokens',
  ],
]

export const refusalContract = (target: () => SamplerTarget): void => {
  test.each(badRequests)('$1', async (fields, message, param) => {
    const reply = await ask(target(), fields)
    expect(reply.contentType).toMatch(/^application\/json/)
    expect(errorOf(reply)).toEqual({ message, type: 'BadRequestError', param, code: 400 })
  })

  test('greedy sampling makes one completion', async () => {
    const error = errorOf(await ask(target(), { temperature: 0, n: 2 }))
    expect(error).toMatchObject({ message: 'n must be 1 when using greedy sampling, got 2.', code: 400 })
  })

  test('an unknown model', async () => {
    const error = errorOf(await ask(target(), { model: 'nope' }))
    expect(error).toMatchObject({ type: 'NotFoundError', param: 'model', code: 404 })
    expect(error.message).toMatch(/^The model `nope` does not exist\./)
  })

  test('a missing field, a wrong content type and broken JSON', async () => {
    const { http } = target()
    const missing = errorOf(await http.post('/v1/load_lora_adapter', { lora_name: 'x' }))
    expect(missing).toMatchObject({ type: 'Bad Request', param: 'body.lora_path', code: 400 })
    const text = errorOf(await http.post('/v1/load_lora_adapter', '{}', { 'content-type': 'text/plain' }))
    expect(text).toMatchObject({ type: 'Bad Request', code: 400 })
    expect(text.message).toContain("Unsupported Media Type: Only 'application/json' is allowed")
    expect(errorOf(await http.post('/v1/completions', '{')).code).toBe(400)
  })

  test('unknown routes and wrong methods', async () => {
    const { http } = target()
    const nothing = await http.get('/v1/nothing')
    expect([nothing.status, JSON.parse(nothing.text)]).toEqual([404, { detail: 'Not Found' }])
    const wrong = await http.get('/v1/completions')
    expect([wrong.status, JSON.parse(wrong.text)]).toEqual([405, { detail: 'Method Not Allowed' }])
  })
}
