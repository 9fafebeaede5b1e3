import { afterEach, describe, expect, it } from 'vitest'
import { examineServer } from '../../../trainer/vllm/examine-server.ts'
import { fakeServer, type Answer } from '../../support/fake-server.ts'
import { vllmAnswer, type VllmTraits } from '../../support/vllm-answer.ts'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const examine = async (answer: (route: string) => Answer) => {
  const server = await fakeServer(({ route }) => answer(route))
  open.push(server)
  return await examineServer({ url: `${server.url}/`, token: undefined, baseName: 'base', contextTokens: 2300 })
}
const withTraits = (traits: VllmTraits) => examine((route) => vllmAnswer(route, traits))

describe('a vLLM that runs already', () => {
  it('is taken when it can do what a run needs', async () => {
    expect(await withTraits({})).toEqual({ version: '0.27.1', root: '/models/tiny-base' })
  })

  it('need not be a vLLM, if it can do the same', async () => {
    const answer = (route: string): Answer =>
      route === 'GET /version' ? { status: 404, json: { detail: 'Not Found' } } : vllmAnswer(route)
    expect(await examine(answer)).toEqual({ version: null, root: '/models/tiny-base' })
  })

  it('may be a worker that only samples, which counts its own versions', async () => {
    expect(await withTraits({ version: '0.1.0+embedded' })).toMatchObject({ version: '0.1.0+embedded' })
    await expect(withTraits({ version: '0.1.0+embedded', lora: 404 })).rejects.toThrow('does not load adapters')
  })

  it.each<[string, VllmTraits, RegExp, string]>([
    ['is too old', { version: '0.9.2' }, /version 0\.9\.2; 0\.15 or newer/, 'Install a newer one'],
    ['loads no adapters while it runs', { lora: 404 }, /does not load adapters/, 'VLLM_ALLOW_RUNTIME_LORA_UPDATING=1'],
    ['takes shorter prompts', { maxModelLen: 2048 }, /takes 2048 tokens; .* may have 2300/, '--max-model-len'],
    [
      'returns no token ids',
      { choice: { text: 'a', token_ids: null, logprobs: { token_logprobs: [-1] } } },
      /does not return token ids/,
      'return_token_ids',
    ],
    ['returns no log-probs', { choice: { text: 'a', token_ids: [5], logprobs: null } }, /log-probs/, '0.15 or newer'],
    [
      'returns logits for log-probs',
      { choice: { text: 'a', token_ids: [5], logprobs: { token_logprobs: [7.25] } } },
      /returns 7\.25 as the log-prob/,
      '--logprobs-mode processed_logprobs',
    ],
  ])('is refused, with what to start it with, when it %s', async (_, traits, message, remedy) => {
    await expect(withTraits(traits)).rejects.toMatchObject({
      boundary: 'sampler',
      message: expect.stringMatching(message) as string,
      remedy: expect.stringContaining(remedy) as string,
    })
  })

  it('is refused when it wants a key, or serves another name', async () => {
    await expect(examine(() => ({ status: 401, json: { error: 'Unauthorized' } }))).rejects.toMatchObject({
      message: expect.stringMatching(/status 401: Unauthorized/) as string,
      remedy: expect.stringContaining('tokenEnv') as string,
    })
    const other: Answer = { json: { data: [{ id: 'granite', root: 'x' }] } }
    await expect(examine((route) => (route === 'GET /v1/models' ? other : vllmAnswer(route)))).rejects.toMatchObject({
      message: expect.stringMatching(/serves granite, and no base/) as string,
      remedy: expect.stringContaining('sampling.server.model') as string,
    })
  })
})
