import { describe, expect, it } from 'vitest'
import { generateGroups, type GenerateRequest } from '../../trainer/generate.ts'
import type { SampleRequest, Sampler } from '../../trainer/sampler.ts'
import { shortPrompt } from '../support/tiny-training.ts'

const prompts = [0, 1, 2, 3, 4].map((i) => ({ prompt: shortPrompt(i), tokenIds: [i, i + 1] }))

/** Answers in an order of the test's choosing; the other routes are not used here. */
const samplerOf = (sample: (request: SampleRequest, signal?: AbortSignal) => Promise<void>): Sampler =>
  ({
    sample: async (request: SampleRequest, signal?: AbortSignal) => {
      await sample(request, signal)
      return Array.from({ length: request.count }, (_, index) => ({
        index,
        text: String(request.promptTokenIds[0]),
        tokenIds: [index],
        logprobs: [-1],
        finishReason: 'stop' as const,
      }))
    },
  }) as unknown as Sampler

const request = (sampler: Sampler, extra: Partial<GenerateRequest> = {}): GenerateRequest => ({
  sampler,
  policy: { version: 3, name: 'policy-r-000003' },
  prompts,
  step: 7,
  stage: 7,
  runSeed: 1,
  groupSize: 2,
  maxTokens: 5,
  temperature: 1,
  concurrency: 2,
  ...extra,
})

describe('generating groups', () => {
  it('puts groups in the order of their prompts, whatever the order of arrival, and hands each on when it arrives', async () => {
    const waiting: (() => void)[] = []
    const arrived: string[] = []
    const sampler = samplerOf(
      () =>
        new Promise((resolve) => {
          waiting.push(resolve)
          if (waiting.length === prompts.length) setImmediate(() => waiting.toReversed().forEach((go) => go()))
        }),
    )
    const groups = await generateGroups(request(sampler, { concurrency: 5 }), async (group) => {
      arrived.push(group.promptId)
      return group
    })
    const ids = prompts.map(({ prompt }) => prompt.id)
    expect(groups.map(({ promptId }) => promptId)).toEqual(ids)
    expect(arrived).toEqual(ids.toReversed())
    expect(groups[2]).toMatchObject({
      step: 7,
      policyVersion: 3,
      policyName: 'policy-r-000003',
      promptTokenIds: [2, 3],
      completions: [{ text: '2', index: 0 }, { index: 1 }],
    })
  })

  it('keeps to its number of requests at a time', async () => {
    let open = 0
    let most = 0
    const sampler = samplerOf(async () => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setImmediate(resolve))
      open--
    })
    await generateGroups(request(sampler), async () => undefined)
    expect(most).toBe(2)
  })

  it('seeds by run, stage and prompt, so that two steps and two prompts differ', async () => {
    const seeds: number[] = []
    const sampler = samplerOf(async ({ seed }) => void seeds.push(seed))
    await generateGroups(request(sampler, { concurrency: 1 }), async () => undefined)
    await generateGroups(request(sampler, { concurrency: 1 }), async () => undefined)
    await generateGroups(request(sampler, { concurrency: 1, stage: 8 }), async () => undefined)
    expect(seeds.slice(0, 5)).toEqual(seeds.slice(5, 10))
    expect(new Set(seeds).size).toBe(10)
  })

  it('cancels the open requests and begins no more when one fails', async () => {
    const cancelled: boolean[] = []
    let begun = 0
    const sampler = samplerOf(async ({ promptTokenIds }, signal) => {
      begun++
      if (promptTokenIds[0] === 1) throw new Error('one failed')
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      cancelled.push(true)
      throw signal?.reason as Error
    })
    await expect(generateGroups(request(sampler), async () => undefined)).rejects.toThrow('one failed')
    expect([cancelled, begun]).toEqual([[true], 2])
  })
})
