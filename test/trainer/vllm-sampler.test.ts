import { afterEach, describe, expect, it } from 'vitest'
import { MissingPolicy, ServerLost } from '../../trainer/vllm/failures.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { fakeServer, type Answer, type RecordedCall } from '../support/fake-server.ts'

const choice = (index: number, extra: object = {}) => ({
  index,
  text: `t${index}`,
  token_ids: [5, 6],
  logprobs: { token_logprobs: [-1, -2] },
  finish_reason: 'stop',
  ...extra,
})
const missing = (name: string): Answer => ({
  status: 404,
  json: {
    error: { message: `The model \`${name}\` does not exist.`, type: 'NotFoundError', param: 'model', code: 404 },
  },
})
const request = { policy: 'base', promptTokenIds: [1, 2, 3], count: 2, maxTokens: 9, temperature: 1, seed: 256 }
const adapter = { version: 1, location: '/adapters/v1', sha256: '', bytes: 1 }

describe('the vLLM sampler client', () => {
  const open: { close: () => Promise<void> }[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()))
  })
  const start = async (
    answer: (call: RecordedCall, number: number) => Answer,
    options: { timeout?: number; gone?: AbortSignal } = {},
  ) => {
    const server = await fakeServer(answer)
    open.push(server)
    const sampler = new VllmSampler({
      url: `${server.url}/`,
      token: 'key',
      baseName: 'base',
      requestTimeoutMs: options.timeout ?? 5000,
      gone: options.gone,
    })
    return { sampler, calls: server.calls }
  }

  it('sends every sampling field, so that no default of the server can change the distribution', async () => {
    const { sampler, calls } = await start(() => ({ json: { choices: [choice(1), choice(0)] } }))
    const completions = await sampler.sample(request)
    expect(completions.map(({ index, tokenIds, logprobs }) => [index, tokenIds, logprobs])).toEqual([
      [0, [5, 6], [-1, -2]],
      [1, [5, 6], [-1, -2]],
    ])
    expect(calls[0]).toEqual({
      route: 'POST /v1/completions',
      authorization: 'Bearer key',
      body: {
        model: 'base',
        prompt: [1, 2, 3],
        n: 2,
        max_tokens: 9,
        temperature: 1,
        top_p: 1,
        top_k: 0,
        min_p: 0,
        repetition_penalty: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
        seed: 256,
        logprobs: 0,
        return_token_ids: true,
        skip_special_tokens: false,
        stream: false,
      },
    })
  })

  it('takes an unknown end of a completion as an abort', async () => {
    const { sampler } = await start(() => ({
      json: { choices: [choice(0, { finish_reason: 'error' }), choice(1, { finish_reason: 'length' })] },
    }))
    expect((await sampler.sample(request)).map(({ finishReason }) => finishReason)).toEqual(['abort', 'length'])
  })

  it.each<[string, Answer, RegExp]>([
    ['token ids are missing', { json: { choices: [choice(0, { token_ids: null }), choice(1)] } }, /token_ids/],
    [
      'log-probs and tokens differ in number',
      { json: { choices: [choice(0, { token_ids: [5] }), choice(1)] } },
      /1 tokens and 2 log-probs/,
    ],
    ['a completion is missing', { json: { choices: [choice(0)] } }, /asked for 2 completions, got indices 0/],
    ['the answer is no JSON', { text: 'hello' }, /not JSON: hello/],
    [
      'the request is refused',
      { status: 400, json: { error: { message: 'Token id 99999 is out of vocabulary', type: 'BadRequestError' } } },
      /status 400: Token id 99999/,
    ],
    ['the key is wrong', { status: 401, json: { error: 'Unauthorized' } }, /Unauthorized/],
  ])('fails at once, with a reason, when %s', async (_, answer, expected) => {
    const { sampler, calls } = await start(() => answer)
    await expect(sampler.sample(request)).rejects.toThrow(expected)
    await expect(sampler.sample(request)).rejects.toMatchObject({ boundary: 'sampler' })
    expect(calls).toHaveLength(2)
  })

  it('tries again when the server was busy or the connection broke, and gives up after three tries', async () => {
    const first = await start((_, number) =>
      number === 1 ? { status: 503 } : number === 2 ? 'cut' : { json: { choices: [choice(0), choice(1)] } },
    )
    expect(await first.sampler.sample(request)).toHaveLength(2)
    const second = await start(() => ({ status: 503, text: 'down' }))
    await expect(second.sampler.sample(request)).rejects.toThrow(/status 503: down/)
    expect(second.calls).toHaveLength(3)
  })

  it('has a deadline of its own, which is not tried again', async () => {
    const { sampler, calls } = await start(() => 'hang', { timeout: 40 })
    await expect(sampler.sample(request)).rejects.toThrow(/no answer within 0.04 s/)
    // On a busy machine not even the first one has arrived by then.
    expect(calls.length).toBeLessThan(2)
  })

  it('rejects calls in flight with the reason when the server process has ended', async () => {
    const gone = new AbortController()
    const { sampler } = await start(() => 'hang', { gone: gone.signal })
    const running = sampler.sample(request)
    gone.abort(new Error('the worker ended'))
    await expect(running).rejects.toThrow('the worker ended')
  })

  it('names the policy that a server does not know, and does not ask again', async () => {
    const { sampler, calls } = await start(() => missing('p9'))
    const failure = await sampler.sample({ ...request, policy: 'p9' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(MissingPolicy)
    expect(failure).toMatchObject({ policy: 'p9', message: expect.stringContaining('does not exist') as string })
    expect(calls).toHaveLength(1)
  })

  it.each<[string, Answer]>([
    ['answers 503', { status: 503, text: '' }],
    ['cuts its answer short', 'half'],
    ['closes the connection', 'cut'],
    [
      'has lost its engine',
      {
        status: 500,
        json: {
          error: {
            message: 'EngineCore encountered an issue. See stack trace (above) for the root cause.',
            type: 'InternalServerError',
            param: null,
            code: 500,
          },
        },
      },
    ],
  ])('takes a server that %s for lost, after three tries', async (_, answer) => {
    const { sampler, calls } = await start(() => answer)
    const failure = await sampler.sample(request).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ServerLost)
    expect(failure).toMatchObject({ boundary: 'sampler', retryable: true })
    expect(calls).toHaveLength(3)
  })

  it('does not take an error inside a healthy server for its end', async () => {
    const message = 'Out of range float values are not JSON compliant'
    const { sampler, calls } = await start(() => ({ status: 500, json: { error: { message } } }))
    const failure = await sampler.sample(request).catch((error: unknown) => error)
    expect(failure).not.toBeInstanceOf(ServerLost)
    expect(failure).toMatchObject({ message: expect.stringContaining(message) as string, retryable: false })
    expect(calls).toHaveLength(1)
  })

  const inWorker = (text: string): Answer => {
    const message = `Call to add_lora method failed: Worker failed with error '${text}', please check the stack trace above for the root cause`
    return { status: 500, json: { error: { message, type: 'InternalServerError', param: null, code: 500 } } }
  }
  it.each<[string, Answer, string]>([
    ['the rank is too high', inWorker('LoRA rank 32 is greater than max_lora_rank 16.'), '--max-lora-rank'],
    ['LoRA is off', inWorker('LoRA is not enabled. Use --enable-lora to enable LoRA.'), '--enable-lora'],
    [
      'the server does not see the directory',
      { status: 404, json: { error: { message: 'Loading lora p1 failed: No adapter found for <path>' } } },
      'must see the run directory',
    ],
    ['run-time adapters are off', { status: 404, json: { detail: 'Not Found' } }, 'VLLM_ALLOW_RUNTIME_LORA_UPDATING=1'],
  ])('says what to start vLLM with when an adapter is refused because %s', async (_, answer, remedy) => {
    const { sampler } = await start(() => answer)
    await expect(sampler.load('p1', adapter)).rejects.toMatchObject({
      remedy: expect.stringContaining(remedy) as string,
    })
  })

  it('takes the plain-text answers of the adapter routes for what they are, also empty ones', async () => {
    const { sampler } = await start(() => ({ text: '' }))
    await expect(sampler.load('p1', adapter)).resolves.toBeUndefined()
    await expect(sampler.unload('p1')).resolves.toBeUndefined()
  })

  it('takes "already loaded" for success only when the same directory is listed under that name', async () => {
    const loadedFrom =
      (root: string) =>
      ({ route }: RecordedCall): Answer =>
        route === 'GET /v1/models'
          ? { json: { data: [{ id: 'base' }, { id: 'p1', root }] } }
          : { status: 400, json: { error: { message: "The lora adapter 'p1' has already been loaded." } } }
    await (await start(loadedFrom(adapter.location))).sampler.load('p1', adapter)
    await expect((await start(loadedFrom('/elsewhere'))).sampler.load('p1', adapter)).rejects.toThrow(
      /already been loaded/,
    )
  })

  it('unloads what is not there without complaint, and complains about anything else', async () => {
    await (
      await start(() => ({ status: 404, json: { error: { message: "The lora adapter 'x' cannot be found." } } }))
    ).sampler.unload('x')
    await expect((await start(() => ({ status: 500, text: 'boom' }))).sampler.unload('x')).rejects.toThrow(/boom/)
  })

  it('reads prompt log-probs by token id', async () => {
    const prompt_logprobs = [null, { 7: { logprob: -0.5 } }, { 8: { logprob: -1.5 }, 9: { logprob: -0.1 } }]
    const { sampler } = await start(() => ({ json: { choices: [{ ...choice(0), prompt_logprobs }] } }))
    expect(await sampler.tokenLogprobs('base', [[6, 7, 8]])).toEqual([[-0.5, -1.5]])
    await expect(sampler.tokenLogprobs('base', [[6, 7, 10]])).rejects.toThrow(/no log-prob came back for token 2/)
  })
})
