import { expect } from 'vitest'
import { untruncated } from '../../trainer/vllm-sampler.ts'
import type { Choice, Completions, Reply } from './http-client.ts'
import type { SamplerTarget } from './target.ts'

export const prompt = [10, 20, 30, 40]

/** Body of POST /v1/completions with the trainer's usual fields. */
const question = (model: string, fields: Record<string, unknown>) => ({
  model,
  prompt,
  n: 1,
  max_tokens: 8,
  temperature: 1,
  ...untruncated,
  seed: 7,
  logprobs: 0,
  return_token_ids: true,
  skip_special_tokens: false,
  stream: false,
  ...fields,
})

/** POST /v1/completions with the trainer's usual fields. */
export const ask = async ({ http, model }: SamplerTarget, fields: Record<string, unknown> = {}): Promise<Reply> =>
  await http.post('/v1/completions', question(model, fields))

/**
 * Asks, and comes back when the server is at work on it: a second request that was sent after the first one had left has
 * been answered, and servers take requests up in the order in which they come.
 */
export const askUnderWay = async (
  target: SamplerTarget,
  fields: Record<string, unknown>,
): Promise<{ readonly reply: Promise<Reply> }> => {
  const first = await target.http.postSent('/v1/completions', question(target.model, fields))
  await ask(target, { ...fields, max_tokens: 1 })
  return first
}

/** The whole answer of a request that must succeed. */
export const complete = async (target: SamplerTarget, fields: Record<string, unknown> = {}): Promise<Completions> => {
  const reply = await ask(target, fields)
  expect(reply.text, `status ${reply.status}`).toMatch(/^\{"id"/)
  return JSON.parse(reply.text) as Completions
}

/** The choices of a request that must succeed. */
export const choicesOf = async (target: SamplerTarget, fields: Record<string, unknown> = {}): Promise<Choice[]> =>
  (await complete(target, fields)).choices

/** Sampled ids of every choice. */
export const idsOf = async (target: SamplerTarget, fields: Record<string, unknown> = {}): Promise<number[][]> =>
  (await choicesOf(target, fields)).map((choice) => choice.token_ids)

export const logprobsOf = (choice: Choice | undefined): number[] => choice?.logprobs?.token_logprobs ?? []

/** Log-probs of all tokens but the first, from scoring them as a prompt. */
export const score = async (
  target: SamplerTarget,
  tokens: readonly number[],
  fields: Record<string, unknown> = {},
): Promise<number[]> => {
  const [choice] = await choicesOf(target, { prompt: tokens, max_tokens: 1, prompt_logprobs: 0, ...fields })
  expect(choice?.prompt_logprobs?.[0]).toBeNull()
  return (choice?.prompt_logprobs ?? [])
    .slice(1)
    .map((entry, i) => entry?.[String(tokens[i + 1])]?.logprob ?? Number.NaN)
}

/** Largest absolute difference of two lists of equal length. */
export const worst = (a: readonly number[], b: readonly number[]): number => {
  expect(a.length).toBe(b.length)
  return Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? Number.NaN))))
}
