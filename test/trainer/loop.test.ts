import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { UpdateBatch, UpdateResult } from '../../data/records/update.ts'
import { JudgeError, type Judge } from '../../judge/judge.ts'
import { createScorer } from '../../rewards/scorer.ts'
import { stepPrompts } from '../../trainer/attempt.ts'
import type { LoopState } from '../../trainer/checkpoint.ts'
import type { Learner } from '../../trainer/learner.ts'
import { trainStep, type LoopContext } from '../../trainer/loop.ts'
import type { Publisher } from '../../trainer/publish.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import type { SampleRequest, Sampler } from '../../trainer/sampler.ts'
import { settledRecorder } from '../support/recorder.ts'
import { letterJudge, shortPool, temporaryDirectory, tinyConfig } from '../support/tiny-training.ts'

const texts = ['abcdef', 'ab', 'a', '']

/** A sampler that always says the same four things. */
const sampler = {
  baseName: 'base',
  sample: async ({ count }: SampleRequest) =>
    Array.from({ length: count }, (_, index) => ({
      index,
      text: texts[index] ?? '',
      tokenIds: [index, 9],
      logprobs: [-1, -1],
      finishReason: 'stop' as const,
    })),
} as unknown as Sampler

const resultOf = (batch: UpdateBatch, changes: Partial<UpdateResult>): UpdateResult => ({
  runId: batch.runId,
  step: batch.step,
  fromVersion: batch.fromVersion,
  version: batch.fromVersion + 1,
  payloadHash: '',
  ...{ loss: 0, kl: 0, entropy: 1, gradNorm: 1, learningRate: 1, seconds: 0, peakRssBytes: 0 },
  clipRatio: { low: 0, high: 0, region: 0 },
  mismatch: { meanAbs: 0, maxAbs: 0, outsideShare: 0, k3: 0 },
  tokens: { prompt: 0, completion: 0 },
  ...changes,
})

const start: LoopState = {
  runId: 'r',
  nextStep: 0,
  policyVersion: 0,
  policyName: 'base',
  adapter: null,
  totalTokens: 5,
}

const setUp = (judge: Judge, changes: Partial<UpdateResult> = {}) => {
  const run = new RunDirectory(temporaryDirectory(), 'r')
  const batches: UpdateBatch[] = []
  const learner = {
    update: async (batch: UpdateBatch) => {
      batches.push(batch)
      return resultOf(batch, changes)
    },
  } as unknown as Learner
  const published: number[] = []
  const publisher = {
    publish: async (version: number) => {
      published.push(version)
      return { policy: { version, name: `policy-r-${version}` }, directory: `v${version}`, difference: 0, moved: 1 }
    },
  } as unknown as Publisher
  const config = tinyConfig('m', run.root)
  const pool = shortPool(6, 0).map((prompt) => ({ prompt, tokenIds: [1, 2] }))
  const context: LoopContext = {
    ...{ config, runId: 'r', attempt: 1, sampler, learner, publisher },
    scorer: createScorer(config.rewards, judge),
    recorder: settledRecorder(run),
    promptsOf: stepPrompts(pool, 0, 3),
  }
  return { run, context, batches, published }
}

describe('one step', () => {
  it('updates from the version sampled from, publishes the next one and only then says that it happened', async () => {
    const { run, context, batches, published } = setUp(letterJudge)
    const { state, metrics } = await trainStep(context, start)
    expect(batches).toMatchObject([{ runId: 'r', step: 0, fromVersion: 0 }])
    expect(
      batches[0]?.groups.map(({ completions }) => completions.map(({ advantage }) => Math.sign(advantage))),
    ).toEqual(Array.from({ length: 3 }, () => [1, -1, -1, -1]))
    expect(published).toEqual([1])
    expect(state).toEqual({
      ...start,
      nextStep: 1,
      policyVersion: 1,
      policyName: 'policy-r-1',
      adapter: 'v1',
      totalTokens: 5 + 3 * 4 * 2,
    })
    expect(JSON.parse(readFileSync(run.metrics, 'utf8'))).toEqual(metrics)
    expect(readdirSync(run.at('rollouts'))).toEqual(['step-000000.jsonl'])
  })

  it('changes nothing when no group has a spread, and says so', async () => {
    const { context, batches, published } = setUp(letterJudge)
    const equal = {
      ...context.scorer,
      assess: async () => ({ score: { kind: 'scored' as const, total: 1, components: {} }, verdict: null }),
    }
    const { state, metrics } = await trainStep({ ...context, scorer: equal }, start)
    expect([batches, published]).toEqual([[], []])
    expect(state).toMatchObject({ nextStep: 1, policyVersion: 0, policyName: 'base', adapter: null })
    expect(metrics).toMatchObject({
      frac_reward_zero_std: 1,
      'groups/no_spread': 3,
      kl: null,
      from_version: 0,
      policy_version: 0,
    })
  })

  it('leaves a completion that the judge failed on out of its group, and counts it', async () => {
    const failing: Judge = {
      name: 'failing',
      judge: async (request) => {
        if (request.completion === 'ab') throw new JudgeError('timed out')
        return await letterJudge.judge(request)
      },
    }
    const { context, batches } = setUp(failing)
    const { metrics } = await trainStep(context, start)
    expect(batches[0]?.groups.map(({ completions }) => completions.length)).toEqual([3, 3, 3])
    expect(metrics['completions/unscored']).toBe(3)
  })

  it.each<[string, Partial<UpdateResult>, RegExp]>([
    [
      'a KL that is not exactly 0 before the first update',
      { kl: 1e-9 },
      /KL to the base model is 1e-9 before the first update/,
    ],
    ['clipping in the only update of a batch', { clipRatio: { low: 0, high: 0.1, region: 0.1 } }, /were clipped/],
    [
      'a sampler that disagrees with the worker',
      { mismatch: { meanAbs: 0.2, maxAbs: 1, outsideShare: 1, k3: 1 } },
      /differ by 0\.2000 nats a token on average \(limit 0\.1\)/,
    ],
    [
      'a mismatch that is no number',
      { mismatch: { meanAbs: Number.NaN, maxAbs: 1, outsideShare: 1, k3: 1 } },
      /limit 0\.1/,
    ],
  ])('stops at %s, before anything is published', async (_, changes, message) => {
    const { context, published } = setUp(letterJudge, changes)
    await expect(trainStep(context, start)).rejects.toThrow(message)
    expect(published).toEqual([])
  })

  it('allows a KL later on', async () => {
    const { context } = setUp(letterJudge, { kl: 0.2 })
    await expect(trainStep(context, { ...start, nextStep: 1, policyVersion: 1 })).resolves.toBeDefined()
  })
})
