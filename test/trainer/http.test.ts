import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { exchange, isTransient, readError } from '../../trainer/http.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { fakeServer, type Answer } from '../support/fake-server.ts'

describe('error bodies', () => {
  const message = (text: string, status = 400) => readError({ status, text })

  it.each([
    [
      'an OpenAI error object',
      '{"error":{"message":"no such thing","type":"NotFoundError","code":404}}',
      { message: 'no such thing', type: 'NotFoundError' },
    ],
    ['an error that is a string', '{"error":"Unauthorized"}', { message: 'Unauthorized', type: undefined }],
    ['a detail text', '{"detail":"Not Found"}', { message: 'Not Found', type: undefined }],
    ['a detail list', '{"detail":[{"msg":"bad"}]}', { message: '[{"msg":"bad"}]', type: undefined }],
    ['plain text', 'Internal Server Error\n', { message: 'Internal Server Error', type: undefined }],
    ['another JSON', '[1,2]', { message: '[1,2]', type: undefined }],
    ['nothing', '', { message: 'HTTP status 400 without a body', type: undefined }],
  ])('reads %s', (_, text, expected) => {
    expect(message(text)).toEqual(expected)
  })

  it('cuts a long page', () => {
    expect(message('x'.repeat(100_000)).message).toHaveLength(500)
  })
})

describe('an exchange', () => {
  let server: Awaited<ReturnType<typeof fakeServer>> | undefined
  afterEach(async () => {
    await server?.close()
    server = undefined
  })
  const serve = async (answer: Answer): Promise<string> => {
    server = await fakeServer(() => answer)
    return server.url
  }

  it('sends JSON with a token and gives status and text of any reply', async () => {
    const url = await serve({ status: 418, text: 'short and stout' })
    expect(
      await exchange({ method: 'POST', url: `${url}/pot`, body: { a: 'é' }, token: 'secret', timeoutMs: 5000 }),
    ).toEqual({ status: 418, text: 'short and stout' })
    expect(server?.calls).toEqual([{ route: 'POST /pot', body: { a: 'é' }, authorization: 'Bearer secret' }])
  })

  it('takes the token that it sent out of what goes into messages, and out of no result', async () => {
    const token = 'password'
    const send = async (answer: Answer) =>
      (await exchange({ method: 'GET', url: await serve(answer), token, timeoutMs: 5000 })).text
    expect(await send({ json: { text: `my ${token}` } })).toBe('{"text":"my password"}')
    await server?.close()
    expect(await send({ status: 401, json: { error: `not with ${token}` } })).toBe('{"error":"not with ***"}')
    await server?.close()
    expect(await send({ text: `not with ${token}` })).toBe('not with ***')
  })

  it('ends at its deadline', async () => {
    const url = await serve('hang')
    await expect(exchange({ method: 'GET', url, timeoutMs: 30 })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('rejects with the reason of the signal, before and during', async () => {
    const url = await serve('hang')
    await expect(
      exchange({ method: 'GET', url, timeoutMs: 5000, signal: AbortSignal.abort(new Error('before')) }),
    ).rejects.toThrow('before')
    const controller = new AbortController()
    const running = exchange({ method: 'GET', url, timeoutMs: 5000, signal: controller.signal })
    controller.abort(new Error('during'))
    await expect(running).rejects.toThrow('during')
  })

  it('leaves nothing behind in signals that live as long as a run', async () => {
    const url = await serve({ text: 'yes' })
    const [run, gone] = [new AbortController().signal, new AbortController().signal]
    // What that leaves in its sources cannot be looked at.
    const any = vi.spyOn(AbortSignal, 'any')
    onTestFinished(() => any.mockRestore())
    await new VllmSampler({ url, token: 't', baseName: 'base', requestTimeoutMs: 5000, gone }).health(run)
    await exchange({ method: 'GET', url, timeoutMs: 5000, signal: run })
    expect(any).not.toHaveBeenCalled()
    expect([run, gone].map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0])
  })

  it('tells a connection that broke from other failures', async () => {
    const url = await serve('cut')
    const error = await exchange({ method: 'GET', url, timeoutMs: 5000 }).catch((caught: unknown) => caught)
    expect(isTransient(error)).toBe(true)
    expect(isTransient(new Error('something else'))).toBe(false)
  })
})
