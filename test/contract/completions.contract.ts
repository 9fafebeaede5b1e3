import { expect, test } from 'vitest'
import { ask, choicesOf, complete, idsOf, logprobsOf, prompt, score, worst } from './ask.ts'
import type { SamplerTarget } from './target.ts'

/** Float32 on both sides; a bfloat16 server does not meet it. */
const tolerance = 1e-4

const promptOf = (length: number, first: number): number[] =>
  Array.from({ length }, (_, i) => 3 + ((i * 31 + first) % 200))

export const completionContract = (target: () => SamplerTarget): void => {
  test('health, version and the list of models', async () => {
    const { http, model } = target()
    expect(await http.get('/health')).toMatchObject({ status: 200, text: '' })
    expect(JSON.parse((await http.get('/version')).text)).toEqual({ version: expect.any(String) })
    const { data } = JSON.parse((await http.get('/v1/models')).text)
    expect(data[0]).toMatchObject({ id: model, object: 'model', parent: null, max_model_len: 1024 })
  })

  test('a group comes back by index with ids, log-probs, text and usage', async () => {
    const answer = await complete(target(), { n: 4, max_tokens: 12, ignore_eos: true })
    expect(answer.model).toBe(target().model)
    expect(answer.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 48, total_tokens: 52 })
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2, 3])
    expect(new Set(answer.choices.map((choice) => choice.token_ids.join())).size).toBe(4)
    for (const choice of answer.choices) {
      expect(choice).toMatchObject({ finish_reason: 'length', stop_reason: null, prompt_token_ids: prompt })
      expect(choice.token_ids).toHaveLength(12)
      expect(logprobsOf(choice)).toHaveLength(12)
      expect(Math.max(...logprobsOf(choice))).toBeLessThanOrEqual(0)
    }
  })

  test('equal seeds give equal completions, also beside other requests; other seeds give others', async () => {
    const asked = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => ({
      prompt: promptOf(20 + 3 * k, k),
      seed: 10 * k,
      n: 4,
      max_tokens: 24,
      ignore_eos: true,
    }))
    const alone: number[][][] = []
    for (const fields of asked) alone.push(await idsOf(target(), fields))
    expect(await Promise.all(asked.map(async (fields) => await idsOf(target(), fields)))).toEqual(alone)
    expect(await idsOf(target(), { ...asked[0], seed: 999 })).not.toEqual(alone[0])
  })

  test('temperature 0 repeats itself whatever the seed', async () => {
    const greedy = { temperature: 0, max_tokens: 16, ignore_eos: true }
    expect(await idsOf(target(), { ...greedy, seed: 1 })).toEqual(await idsOf(target(), { ...greedy, seed: 2 }))
  })

  test('log-probs of a sample equal the scores of the same tokens as a prompt', async () => {
    for (const choice of await choicesOf(target(), { n: 4, max_tokens: 32 })) {
      const scores = await score(target(), [...prompt, ...choice.token_ids])
      expect(worst(logprobsOf(choice), scores.slice(prompt.length - 1))).toBeLessThan(tolerance)
    }
  })

  test('log-probs are those of the processed distribution', async () => {
    const [only] = await choicesOf(target(), { top_k: 1, ignore_eos: true })
    expect(
      worst(
        logprobsOf(only),
        Array.from({ length: 8 }, () => 0),
      ),
    ).toBeLessThan(tolerance)
    const [two] = await choicesOf(target(), {
      ...{ top_k: 2, logprobs: 2, temperature: 0.7, max_tokens: 32, ignore_eos: true },
    })
    // Entries are named by their text, and tokens that are half a character share the empty one.
    const masses = (two?.logprobs?.top_logprobs ?? [])
      .map((top) => Object.values(top))
      .filter((logprobs) => logprobs.length === 2)
      .map((logprobs) => logprobs.reduce((sum, logprob) => sum + Math.exp(logprob), 0))
    expect(masses.length).toBeGreaterThan(0)
    for (const mass of masses) expect(mass).toBeCloseTo(1, 4)
  })

  test('scores do not depend on the temperature', async () => {
    const tokens = [5, 6, 7, 8, 9]
    expect(worst(await score(target(), tokens), await score(target(), tokens, { temperature: 0.5 }))).toBeLessThan(
      tolerance,
    )
  })

  test('a stop id ends a completion, is among its ids and not in its text', async () => {
    const [free] = await choicesOf(target(), { max_tokens: 12, ignore_eos: true })
    const stop = free?.token_ids[4] ?? 0
    const [cut] = await choicesOf(target(), { max_tokens: 12, ignore_eos: true, stop_token_ids: [stop] })
    expect(cut).toMatchObject({ finish_reason: 'stop', stop_reason: stop })
    const length = (free?.token_ids.indexOf(stop) ?? 0) + 1
    expect(cut?.token_ids).toEqual(free?.token_ids.slice(0, length))
    expect(logprobsOf(cut)).toHaveLength(length)
    const before = length === 1 ? [] : await choicesOf(target(), { max_tokens: length - 1, ignore_eos: true })
    expect(cut?.text).toBe(before[0]?.text ?? '')
  })

  test('the end token ends a completion, with its log-prob and without a stop reason', async () => {
    const choices = await choicesOf(target(), { n: 16, max_tokens: 48 })
    const ended = choices.filter((choice) => choice.finish_reason === 'stop')
    expect(ended.length).toBeGreaterThan(0)
    for (const choice of ended) {
      expect(choice.stop_reason).toBeNull()
      expect(choice.token_ids.indexOf(0)).toBe(choice.token_ids.length - 1)
      expect(logprobsOf(choice)).toHaveLength(choice.token_ids.length)
      expect(choice.text).not.toContain('<|end|>')
    }
  })

  test('several prompts: index is prompt times n plus i', async () => {
    const choices = await choicesOf(target(), {
      prompt: [
        [10, 20],
        [30, 40, 50],
      ],
      n: 2,
      max_tokens: 2,
    })
    expect(choices.map((choice) => [choice.index, choice.prompt_token_ids.length])).toEqual([
      [0, 2],
      [1, 2],
      [2, 3],
      [3, 3],
    ])
  })

  test('without max_tokens 16 are made; unknown fields are ignored; the request id is kept', async () => {
    const { http, model } = target()
    const body = { model, prompt, return_token_ids: true, ignore_eos: true, nonsense: 1 }
    const answer = JSON.parse((await http.post('/v1/completions', body, { 'x-request-id': 'my-req-7' })).text)
    expect(answer.id).toBe('cmpl-my-req-7')
    expect(answer.choices[0].token_ids).toHaveLength(16)
    expect(answer.choices[0].logprobs).toBeNull()
  })

  test('what is not asked for is null', async () => {
    const [choice] = await choicesOf(target(), { return_token_ids: false, logprobs: null })
    expect(choice).toMatchObject({ token_ids: null, prompt_token_ids: null, logprobs: null, prompt_logprobs: null })
  })

  test('a prompt may fill the context to the last token', async () => {
    const reply = await ask(target(), { prompt: Array.from({ length: 1020 }, () => 5), max_tokens: 4 })
    expect(reply.status).toBe(200)
  })
}
