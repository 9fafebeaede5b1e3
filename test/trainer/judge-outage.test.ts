import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { RunEvent } from '../../data/records/run.ts'
import { openLlmJudge } from '../../judge/llm/open.ts'
import { runTraining } from '../../trainer/train.ts'
import { judgeConfig } from '../judge/llm/open-judge.ts'
import { JudgeServer } from '../support/judge-server.ts'
import {
  captured,
  makeTinyModel,
  noPython,
  shortPool,
  source,
  temporaryDirectory,
  tinyConfig,
} from '../support/tiny-training.ts'

describe.skipIf(noPython)('a training whose judge goes down', () => {
  it('pauses, can be stopped while it waits, and continues from its last complete step when the judge is back', async () => {
    // Down from some question of the second step on: the first step asks at most twelve.
    const isDown = (): boolean => server.questions.length > 12
    const server: JudgeServer = await JudgeServer.start({
      behave: () => (isDown() ? { status: 503 } : 'verdict'),
      probe: () => (isDown() ? { status: 503 } : 'verdict'),
    })
    onTestFinished(() => server.close())

    const runs = temporaryDirectory()
    const config = tinyConfig(makeTinyModel(), runs, {
      run: { steps: 6, checkpointEvery: 10 },
      evaluation: { atEnd: false },
    })
    const stop = new AbortController()
    const judge = await openLlmJudge(judgeConfig(server.url), { cwd: '/', env: {}, firstBackoffMs: 1 })
    judge.watch?.(({ kind }) => kind === 'paused' && stop.abort(new Error('stopped by SIGINT')))
    const progress = captured()
    const training = { config, pool: shortPool(8, 4), source, progress }
    const stopped = await runTraining({ ...training, judge, stop: stop.signal })
    await judge.close()
    expect(stopped).toMatchObject({ kind: 'stopped', resumeWith: stopped.runId })
    expect(stopped.step).toBeGreaterThan(0)
    expect(stopped.step).toBeLessThan(6)
    expect(progress.text()).toContain('paused: waiting for the judge: HTTP 503 injected. Ctrl-C saves and stops.')

    const again = await JudgeServer.start()
    onTestFinished(() => again.close())
    const second = await openLlmJudge(judgeConfig(again.url), { cwd: '/', env: {} })
    const finished = await runTraining({ ...training, judge: second, resume: stopped.runId })
    await second.close()
    expect(finished).toMatchObject({ kind: 'finished', step: 6, runId: stopped.runId })
    const events = readFileSync(join(finished.directory, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => RunEvent.parse(JSON.parse(line)).kind)
    expect(events.filter((kind) => ['paused', 'stopped', 'resumed', 'finished'].includes(kind))).toEqual([
      'paused',
      'stopped',
      'resumed',
      'finished',
    ])
    const metrics = readFileSync(join(finished.directory, 'metrics.jsonl'), 'utf8').trim().split('\n')
    expect(metrics.map((line) => (JSON.parse(line) as { step: number }).step)).toEqual([0, 1, 2, 3, 4, 5])
  }, 600_000)
})
