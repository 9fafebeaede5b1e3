import { assert as assertProperty, asyncProperty } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PipelineError } from '../../data/errors.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import { fakeServer, type Answer } from '../support/fake-server.ts'
import { spoilt } from '../support/spoilt.ts'

vi.setConfig({ testTimeout: 300_000 })

const session = {
  ...{ runId: 'r', seed: 0 },
  lora: { rank: 1, alpha: 1, dropout: 0 as const, targetModules: 'all-linear' as const },
  optimizer: {
    ...{ learningRate: 1, betas: [0.9, 0.999] as [number, number], epsilon: 1e-8, weightDecay: 0 },
    ...{ warmupSteps: 0, decaySteps: 0, maxGradNorm: 1 },
  },
}
const batch = {
  ...{ runId: 'r', step: 3, fromVersion: 2, tokenBudget: 64 },
  loss: {
    ...{ beta: 0.04, clipLow: 0.2, clipHigh: 0.2, kl: 'k3' as const, normalization: 'token_mean' as const },
    ...{ fixedLength: 8, importanceBounds: null },
  },
  groups: [{ promptTokenIds: [1], completions: [{ tokenIds: [2], advantage: 1, samplerLogprobs: [-1] }] }],
}
const info = {
  ...{ model: 'm', modelHash: 'h', architecture: 'a', parameters: 1, dtype: 'float32', device: 'cpu', threads: 1 },
  ...{ maxContext: 9, versions: { torch: '2' }, session: { runId: 'r', version: 1 } },
}
const updated = {
  ...{ runId: 'r', step: 3, fromVersion: 2, version: 3, payloadHash: 'h' },
  ...{ loss: 0, kl: 0.1, entropy: 1, gradNorm: 1, learningRate: 1e-3, seconds: 1, peakRssBytes: 1 },
  clipRatio: { low: 0, high: 0, region: 0 },
  mismatch: { meanAbs: 0, maxAbs: 0, outsideShare: 0, k3: 0 },
  tokens: { prompt: 1, completion: 1 },
}
const refusal = { error: { message: 'no', type: 'Conflict', param: null, code: 409 }, detail: [{ msg: 'x' }] }
const choice = {
  ...{ index: 0, text: 't', token_ids: [5, 6], logprobs: { token_logprobs: [-1, -2] }, finish_reason: 'stop' },
  prompt_logprobs: [null, { 2: { logprob: -1, rank: 1, decoded_token: 'b' } }],
}

let server: Awaited<ReturnType<typeof fakeServer>>
let answer: Answer = 'cut'
beforeAll(async () => {
  server = await fakeServer(() => answer)
})
afterAll(() => server.close())

const worker = () =>
  new WorkerClient({
    ...{ url: server.url, token: 'a-token-of-the-worker', requestTimeoutMs: 60_000, firstPauseMs: 0.01 },
    ...{ adaptersDir: '/run/adapters', statesDir: '/run/checkpoints' },
  })
const sampler = () =>
  new VllmSampler({
    ...{ url: server.url, token: 'a-token-of-the-sampler', baseName: 'base', requestTimeoutMs: 60_000 },
    ...{ tries: 1, firstPauseMs: 0.01 },
  })
const request = { policy: 'base', promptTokenIds: [1], count: 1, maxTokens: 2, temperature: 1, seed: 1 }
const adapter = { version: 1, location: '/a', sha256: '', bytes: 1 }
const messages = [{ role: 'user' as const, content: 'x' }]

const calls: Readonly<Record<string, readonly [call: () => Promise<unknown>, reply: unknown]>> = {
  'info of the worker': [() => worker().info(), info],
  'opening a session': [() => worker().open(session), { runId: 'r', version: 0 }],
  tokenizing: [() => worker().tokenize([{ id: 'p', messages }]), { prompts: [{ id: 'p', tokenIds: [1] }] }],
  'an update': [() => worker().update(batch), updated],
  'log-probs of the worker': [
    () => worker().logprobs('base', [{ promptTokenIds: [1], tokenIds: [2] }]),
    { version: 0, items: [{ logprobs: [-1] }] },
  ],
  'saving an adapter': [() => worker().saveAdapter('v1'), { version: 1, path: '/a', sha256: 'h', bytes: 1 }],
  'listing policies': [() => sampler().policies(), { data: [{ id: 'base', root: '/m' }] }],
  sampling: [() => sampler().sample(request), { choices: [choice] }],
  'scoring tokens': [() => sampler().tokenLogprobs('base', [[1, 2]]), { choices: [choice] }],
  'loading an adapter': [() => sampler().load('p', adapter), refusal],
}

const isFinite = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isFinite)
    : typeof value !== 'number' || Number.isFinite(value)

/** Fine are a value of numbers that JSON can say, and an error of ours that is no book. */
const outcomeOf = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    return isFinite(await call()) ? 'fine' : 'a number that is none'
  } catch (error) {
    if (!(error instanceof PipelineError)) return `another error: ${String(error)}`
    return error.message.length < 20_000 ? 'fine' : `a message of ${error.message.length} characters`
  }
}

describe.each(Object.entries(calls))('%s', (_, [call, reply]) => {
  it('gives a value or an error of ours, whatever the server says', async () => {
    answer = { json: reply }
    await call()
    await assertProperty(
      asyncProperty(spoilt(reply), spoilt(refusal), async (text, refused) => {
        for (const [status, said] of [
          [200, text],
          [422, refused],
        ] as const) {
          answer = { status, text: said }
          expect(await outcomeOf(call)).toBe('fine')
        }
      }),
      { numRuns: 60 },
    )
  })
})
