import { afterEach, describe, expect, it } from 'vitest'
import type { UpdateBatch } from '../../data/records/update.ts'
import { GrpoSection } from '../../trainer/config.ts'
import { lossConfig } from '../../trainer/pack.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import { fakeServer, type Answer, type RecordedCall } from '../support/fake-server.ts'

const batch: UpdateBatch = {
  runId: 'r',
  step: 3,
  fromVersion: 2,
  tokenBudget: 64,
  loss: lossConfig(GrpoSection.parse(undefined), { maxCompletionTokens: 8 }),
  groups: [{ promptTokenIds: [1], completions: [{ tokenIds: [2], advantage: 1, samplerLogprobs: [-1] }] }],
}
const result = {
  runId: 'r',
  step: 3,
  fromVersion: 2,
  version: 3,
  payloadHash: 'h',
  ...{ loss: 0, kl: 0.1, entropy: 1, gradNorm: 1, learningRate: 1e-3, seconds: 1, peakRssBytes: 1 },
  clipRatio: { low: 0, high: 0, region: 0 },
  mismatch: { meanAbs: 0, maxAbs: 0, outsideShare: 0, k3: 0 },
  tokens: { prompt: 1, completion: 1 },
}
const refusal = (status: number, type: string): Answer => ({
  status,
  json: { error: { message: 'no', type, code: status } },
})

describe('the worker client', () => {
  const open: { close: () => Promise<void> }[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()))
  })
  const start = async (answer: (call: RecordedCall, number: number) => Answer, gone?: AbortSignal) => {
    const server = await fakeServer(answer)
    open.push(server)
    const client = new WorkerClient({
      url: server.url,
      token: 't',
      requestTimeoutMs: 5000,
      firstPauseMs: 1,
      adaptersDir: '/run/adapters',
      statesDir: '/run/checkpoints',
      gone,
    })
    return { client, calls: server.calls }
  }

  it('sends the very same update again when the reply was lost, and takes the stored result', async () => {
    const { client, calls } = await start((_, number) => (number === 1 ? 'cut' : { json: result }))
    expect(await client.update(batch)).toEqual(result)
    expect(calls.map(({ body }) => body)).toEqual([batch, batch])
  })

  it.each<[string, Answer, RegExp, RegExp]>([
    [
      'a stale version',
      refusal(409, 'StaleVersion'),
      /\/update failed with status 409 \(StaleVersion\): no/,
      /resume the run/,
    ],
    ['a non-finite update', refusal(422, 'NonFiniteUpdate'), /NonFiniteUpdate/, /learningRate/],
    ['a full memory', refusal(507, 'OutOfMemory'), /OutOfMemory/, /tokenBudget/],
    ['another shape', { json: { ...result, kl: 'much' } }, /another shape[^]*kl/, /same version/],
  ])('reports %s once, with what to do', async (_, answer, message, remedy) => {
    const { client, calls } = await start(() => answer)
    await expect(client.update(batch)).rejects.toMatchObject({
      boundary: 'worker',
      message: expect.stringMatching(message) as string,
      remedy: expect.stringMatching(remedy) as string,
    })
    expect(calls).toHaveLength(1)
  })

  it('refuses an answer about another step', async () => {
    const { client } = await start(() => ({ json: { ...result, step: 2 } }))
    await expect(client.update(batch)).rejects.toThrow(
      /asked for step 3 from version 2, the worker answered about step 2/,
    )
  })

  it('refuses a session that has already been trained', async () => {
    const { client } = await start(() => ({ json: { runId: 'r', version: 4, loraParameters: 1 } }))
    const session = {
      runId: 'r',
      seed: 0,
      lora: { rank: 1, alpha: 1, dropout: 0 as const, targetModules: 'all-linear' as const },
      optimizer: {
        learningRate: 1,
        betas: [0.9, 0.9] as [number, number],
        epsilon: 1,
        weightDecay: 0,
        warmupSteps: 0,
        decaySteps: 0,
        maxGradNorm: 1,
      },
    }
    await expect(client.open(session)).rejects.toThrow(/already at version 4/)
  })

  it('tokenises in pieces and checks that each answer stands at its own place', async () => {
    const { client, calls } = await start(({ body }) => {
      const { prompts } = body as { prompts: { id: string }[] }
      return { json: { prompts: prompts.map(({ id }) => ({ id, tokenIds: [Number(id)] })) } }
    })
    const prompts = Array.from({ length: 300 }, (_, i) => ({ id: String(i), messages: [] }))
    expect(await client.tokenize(prompts)).toEqual(prompts.map(({ id }) => [Number(id)]))
    expect(calls).toHaveLength(3)
    const swapped = await start(() => ({ json: { prompts: [{ id: 'b', tokenIds: [] }] } }))
    await expect(swapped.client.tokenize([{ id: 'a', messages: [] }])).rejects.toThrow(
      /answered prompt b at the place of a/,
    )
  })

  it('refuses log-probs that are not one for each token', async () => {
    const { client } = await start(() => ({ json: { version: 1, items: [{ logprobs: [-1] }] } }))
    await expect(client.logprobs('current', [{ promptTokenIds: [1], tokenIds: [2, 3] }])).rejects.toThrow(
      /another number of log-probs/,
    )
  })

  it('says why the worker ended where its connection breaks a moment before that is known', async () => {
    const gone = new AbortController()
    const { client } = await start(() => {
      setTimeout(() => gone.abort(new Error('it ran out of memory')), 50)
      return 'cut'
    }, gone.signal)
    await expect(client.saveState('here')).rejects.toThrow('it ran out of memory')
  })

  it('rejects what is in flight with the reason when the worker has ended', async () => {
    const gone = new AbortController()
    const { client } = await start(() => 'hang', gone.signal)
    const running = client.update(batch)
    gone.abort(new Error('it is gone'))
    await expect(running).rejects.toThrow('it is gone')
  })
})
