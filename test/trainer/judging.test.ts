import { mkdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../data/records/run.ts'
import { type Judge, type JudgeCounts, JudgeError, type JudgeNotice } from '../../judge/judge.ts'
import { abortable } from '../../judge/llm/wait.ts'
import { Notices } from '../../judge/llm/notices.ts'
import { createScorer, type Assessment } from '../../rewards/scorer.ts'
import { stepPrompts } from '../../trainer/attempt.ts'
import type { LoopState } from '../../trainer/checkpoint.ts'
import { countsBetween, judgeMetrics } from '../../trainer/judge-metrics.ts'
import { OutageWatch } from '../../trainer/supervision/outage-watch.ts'
import type { Learner } from '../../trainer/learner.ts'
import { trainStep, type LoopContext } from '../../trainer/loop.ts'
import { createProgress } from '../../trainer/progress.ts'
import type { Publisher } from '../../trainer/publish.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import type { SampleRequest, Sampler } from '../../trainer/sampler.ts'
import { requireJudged, TooManyUnscoredError } from '../../trainer/score.ts'
import { settledRecorder } from '../support/recorder.ts'
import { captured, letterJudge, shortPool, temporaryDirectory, tinyConfig } from '../support/tiny-training.ts'

const start: LoopState = {
  ...{ runId: 'r', nextStep: 0, policyVersion: 0, policyName: 'base', adapter: null, totalTokens: 0 },
}

/** A step of three prompts that are sampled one after the other. `sampled` hears of each. */
const setUp = (judge: Judge, sampled: (number: number) => void = () => undefined) => {
  const run = new RunDirectory(temporaryDirectory(), 'r')
  let number = 0
  const sample = async ({ count }: SampleRequest) => {
    sampled((number += 1))
    const completion = { text: 'abc', tokenIds: [1, 9], logprobs: [-1, -1], finishReason: 'stop' as const }
    return Array.from({ length: count }, (_, index) => ({ ...completion, index }))
  }
  const config = tinyConfig('m', run.root, { sampling: { groupSize: 4, promptsPerStep: 3, concurrency: 1 } })
  const pool = shortPool(6, 0).map((prompt) => ({ prompt, tokenIds: [1, 2] }))
  const recorder = settledRecorder(run)
  const context: LoopContext = {
    ...{ config, runId: 'r', attempt: 1, recorder },
    sampler: { baseName: 'base', sample } as unknown as Sampler,
    learner: {} as Learner,
    publisher: {} as Publisher,
    scorer: createScorer(config.rewards, judge),
    promptsOf: stepPrompts(pool, 0, 3),
  }
  return { run, recorder, context }
}

const deferred = () => {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

describe('judging beside sampling', () => {
  it('does not hold it up: the judge may wait until all prompts of the step were sampled', async () => {
    const all = deferred()
    // Without overlap this would wait for ever.
    const slow: Judge = {
      name: 'slow',
      judge: async (request) => {
        await all.promise
        return await letterJudge.judge(request)
      },
    }
    const { context } = setUp(slow, (number) => number === 3 && all.resolve())
    const { metrics } = await trainStep(context, start)
    expect(metrics).toMatchObject({ 'completions/unscored': 0, 'groups/total': 3 })
  })

  it('asks about all completions of a group at once', async () => {
    let open = 0
    const four = deferred()
    const together: Judge = {
      name: 'together',
      judge: async (request) => {
        open += 1
        if (open === 4) four.resolve()
        await four.promise
        return await letterJudge.judge(request)
      },
    }
    await trainStep(setUp(together).context, start)
    expect(open).toBe(12)
  })

  it('ends with the step when the step is called off', async () => {
    const gone = new AbortController()
    const waiting: Judge = {
      name: 'waiting',
      judge: async ({ signal }) => await abortable(new Promise(() => undefined), signal),
    }
    const { context } = setUp(waiting, (number) => number === 3 && setImmediate(() => gone.abort(new Error('enough'))))
    await expect(trainStep({ ...context, signal: gone.signal }, start)).rejects.toThrow('enough')
  })
})

describe('questions without a verdict', () => {
  const failing = (share: number, maxUnscored: number): Judge => {
    let asked = 0
    return {
      name: 'failing',
      maxUnscored,
      judge: async (request) => {
        asked += 1
        if (asked <= share * 12) throw new JudgeError('no verdict after 4 tries: garbled')
        return await letterJudge.judge(request)
      },
    }
  }

  it('stop the run by name when there are more than the config allows', async () => {
    const step = trainStep(setUp(failing(0.5, 0.25)).context, start)
    await expect(step).rejects.toBeInstanceOf(TooManyUnscoredError)
    await expect(step).rejects.toThrow(
      'step 0: 6 of 12 questions to the judge stayed without a verdict (judge.maxUnscored: 0.25); most often: no verdict after 4 tries: garbled',
    )
  })

  it('are left out and counted up to there', async () => {
    const { metrics } = await trainStep(setUp(failing(0.25, 0.25)).context, start)
    expect(metrics).toMatchObject({ 'judge/unscored': 3, 'completions/unscored': 3 })
  })

  it('never stop a run when it is only one, and are measured against what was asked', () => {
    const scorer = createScorer(tinyConfig('m', 'r').rewards, failing(0, 0.1))
    const unscored: Assessment = { score: { kind: 'unscored', component: 'judge', reason: 'down' }, verdict: null }
    const notAsked: Assessment = { score: { kind: 'scored', total: 1, components: {} }, verdict: null }
    expect(() => requireJudged(scorer, [unscored], 'step 1')).not.toThrow()
    expect(() =>
      requireJudged(scorer, [unscored, unscored, ...Array.from({ length: 98 }, () => notAsked)], 'step 1'),
    ).toThrow('2 of 2')
  })
})

describe('the metrics of judging', () => {
  const counts = (requests: number, hits: number, garbled: number): JudgeCounts => ({
    ...{ requests, retries: 0, memoryHits: hits, diskHits: 0, joined: 0, storeFailures: 0 },
    ...{ promptTokens: 10 * requests, completionTokens: requests, outages: 0, pausedSeconds: 0 },
    failures: garbled === 0 ? {} : { garbled },
  })

  it('are what happened in the step, not since the start', () => {
    const between = countsBetween(counts(5, 1, 0), counts(8, 4, 2))
    const verdict = { score: 1, reason: '', model: 'm', cached: false, latencyMs: 1 }
    const assessment: Assessment = { score: { kind: 'scored', total: 1, components: {} }, verdict }
    expect(judgeMetrics([assessment, assessment, assessment, assessment], between)).toMatchObject({
      'judge/requests': 3,
      'judge/hit_rate': 0.75,
      'judge/failures/garbled': 2,
      'judge/prompt_tokens': 30,
      'judge/unscored': 0,
    })
  })

  it('are few for a judge that asks nobody', () => {
    expect(judgeMetrics([], countsBetween(undefined, undefined))).toEqual({ 'judge/unscored': 0 })
  })
})

describe('a run whose judge is down', () => {
  const watched = () => {
    const notices = new Notices()
    const { run, recorder, context } = setUp({ ...letterJudge, watch: notices.watch })
    mkdirSync(run.at('.'), { recursive: true })
    const stream = captured()
    const stop = new AbortController()
    const watch = new OutageWatch({
      ...{ judge: context.scorer.judge, sampler: context.sampler, recorder, progress: createProgress(stream, {}) },
      ...{ stop: stop.signal, abort: undefined, state: () => start },
    })
    return { run, recorder, stream, stop, watch, send: (notice: JudgeNotice) => notices.send(notice) }
  }
  const paused: JudgeNotice = { kind: 'paused', reason: 'connect ECONNREFUSED' }
  const eventsOf = (run: RunDirectory) =>
    readFileSync(run.at('events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunEvent)

  it('says so, and says when it goes on', async () => {
    const { run, recorder, stream, send, watch } = watched()
    await recorder.status('running', start)
    send(paused)
    await recorder.settle()
    expect(JSON.parse(readFileSync(run.at('status.json'), 'utf8'))).toMatchObject({
      state: 'paused',
      message: 'waiting for the judge: connect ECONNREFUSED',
    })
    send({ kind: 'continued', seconds: 12 })
    await recorder.settle()
    watch.close()
    expect(JSON.parse(readFileSync(run.at('status.json'), 'utf8'))).toMatchObject({ state: 'running', message: null })
    expect(eventsOf(run).map(({ kind }) => kind)).toEqual(['paused', 'continued'])
    expect(stream.text()).toBe(
      'paused: waiting for the judge: connect ECONNREFUSED. Ctrl-C saves and stops.\nthe judge is back after 12 s\n',
    )
  })

  it.each(['before', 'after'])('can be stopped: the wish to stop %s the outage ends the step that waits', (when) => {
    const { stop, send, watch } = watched()
    if (when === 'before') stop.abort(new Error('stopped by SIGINT'))
    send(paused)
    if (when === 'after') stop.abort(new Error('stopped by SIGINT'))
    expect(watch.signal.reason).toBe(stop.signal.reason)
    watch.close()
  })

  it('goes on, and can be left to finish its step, only when neither outage nor rate limit holds any more', async () => {
    const { run, recorder, stop, send, watch } = watched()
    await recorder.status('running', start)
    send({ kind: 'paused', reason: 'its rate limit asks to wait 30 s' })
    send(paused)
    send({ kind: 'continued', seconds: 30 })
    await recorder.settle()
    expect(JSON.parse(readFileSync(run.at('status.json'), 'utf8'))).toMatchObject({ state: 'paused' })
    stop.abort(new Error('stopped by SIGINT'))
    expect(watch.signal.reason).toBe(stop.signal.reason)
    send({ kind: 'continued', seconds: 40 })
    await recorder.settle()
    watch.close()
    expect(JSON.parse(readFileSync(run.at('status.json'), 'utf8'))).toMatchObject({ state: 'running' })
  })

  it('is left to finish its step by a wish to stop when it does not wait', () => {
    const { stop, send, watch } = watched()
    send(paused)
    send({ kind: 'continued', seconds: 1 })
    stop.abort(new Error('stopped by SIGINT'))
    expect(watch.signal.aborted).toBe(false)
    watch.close()
  })
})
