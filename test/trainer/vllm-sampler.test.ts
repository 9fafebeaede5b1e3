import { afterEach, describe, expect, it } from 'vitest'
import { PipelineError } from '../../data/errors.ts'
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
    expect(calls).toHaveLength(1)
  })

  it('rejects calls in flight with the reason when the server process has ended', async () => {
    const gone = new AbortController()
    const { sampler } = await start(() => 'hang', { gone: gone.signal })
    const running = sampler.sample(request)
    gone.abort(new Error('the worker ended'))
    await expect(running).rejects.toThrow('the worker ended')
  })

  it('loads an adapter again that a restarted server has forgotten, then samples from it', async () => {
    let restarted = false
    const { sampler, calls } = await start(({ route }) => {
      if (route === 'POST /v1/load_lora_adapter') {
        restarted = false
        return { text: "Success: LoRA adapter 'p1' added successfully." }
      }
      return restarted ? missing('p1') : { json: { choices: [choice(0), choice(1)] } }
    })
    await sampler.load('p1', adapter)
    restarted = true
    expect(await sampler.sample({ ...request, policy: 'p1' })).toHaveLength(2)
    expect(calls.map(({ route }) => route.split('/').at(-1))).toEqual([
      'load_lora_adapter',
      'completions',
      'load_lora_adapter',
      'completions',
    ])
  })

  /** A server that has forgotten `p1` until it is loaded again. */
  const restarted = async () => {
    let loaded = true
    const { sampler, calls } = await start(({ route }) => {
      if (route === 'POST /v1/load_lora_adapter') {
        loaded = true
        return { text: "Success: LoRA adapter 'p1' added successfully." }
      }
      return loaded ? { json: { choices: [choice(0), choice(1)] } } : missing('p1')
    })
    await sampler.load('p1', adapter)
    loaded = false
    const routes = (): (string | undefined)[] => calls.map(({ route }) => route.split('/').at(-1))
    return { sampler, routes }
  }

  it('has an adapter that was loaded again proved before it gives out anything sampled from it', async () => {
    const { sampler, routes } = await restarted()
    const order: string[] = []
    sampler.onReload(async (policy) => {
      order.push(`check ${policy} after ${routes().at(-1)}`)
    })
    const results = await Promise.all([1, 2, 3, 4].map((seed) => sampler.sample({ ...request, policy: 'p1', seed })))
    expect(results.map((completions) => completions.length)).toEqual([2, 2, 2, 2])
    expect(order).toHaveLength(1)
    expect(order[0]).toMatch(/^check p1 after (load_lora_adapter|completions)$/)
    expect(routes().filter((route) => route === 'load_lora_adapter')).toHaveLength(2)
  })

  it('samples nothing more from an adapter that could not be proved', async () => {
    const { sampler } = await restarted()
    sampler.onReload(() => Promise.reject(new PipelineError('sampler', 'other weights')))
    const results = await Promise.allSettled(
      [1, 2, 3].map((seed) => sampler.sample({ ...request, policy: 'p1', seed })),
    )
    results.push(...(await Promise.allSettled([sampler.sample({ ...request, policy: 'p1' })])))
    for (const result of results) expect(result).toMatchObject({ reason: { message: 'other weights' } })
  })

  it('does not invent an adapter that it never loaded', async () => {
    const { sampler, calls } = await start(() => missing('p9'))
    await expect(sampler.sample({ ...request, policy: 'p9' })).rejects.toThrow(/does not exist/)
    expect(calls).toHaveLength(1)
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

  it('says how to start vLLM when the adapter routes do not exist', async () => {
    const { sampler } = await start(() => ({ status: 404, json: { detail: 'Not Found' } }))
    await expect(sampler.load('p1', adapter)).rejects.toMatchObject({
      remedy: expect.stringContaining('VLLM_ALLOW_RUNTIME_LORA_UPDATING') as string,
    })
  })

  it('reads prompt log-probs by token id', async () => {
    const prompt_logprobs = [null, { 7: { logprob: -0.5 } }, { 8: { logprob: -1.5 }, 9: { logprob: -0.1 } }]
    const { sampler } = await start(() => ({ json: { choices: [{ ...choice(0), prompt_logprobs }] } }))
    expect(await sampler.tokenLogprobs('base', [[6, 7, 8]])).toEqual([[-0.5, -1.5]])
    await expect(sampler.tokenLogprobs('base', [[6, 7, 10]])).rejects.toThrow(/no log-prob came back for token 2/)
  })
})
