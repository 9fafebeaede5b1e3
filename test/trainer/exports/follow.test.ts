import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Follower } from '../../../trainer/exports/follow.ts'
import { Outbox } from '../../../trainer/exports/outbox.ts'
import type { MetricPoint, Sink } from '../../../trainer/exports/sink.ts'
import { metricsLine } from '../../support/exported-run.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

const point = (step: number): MetricPoint => ({ step, at: step, values: { reward: step } })

/** A sink that remembers, and that fails as long as it is told to. */
const sinkOf = (replays = true) => {
  const state = { failing: false, attempts: 0, steps: [] as number[], ending: '' }
  const sink: Sink = {
    name: 'memory',
    replays,
    write: async (points) => {
      state.attempts += 1
      if (state.failing) throw new Error('the server is away')
      state.steps.push(...points.map(({ step }) => step))
    },
    close: async (ending) => {
      state.ending = ending
    },
  }
  return { sink, state }
}

/** Waits for what another task brings about. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(5)
}

describe('an outbox', () => {
  const open = (warnings: string[], sink: Sink) =>
    new Outbox({ sink, everyMs: 5, onWarning: (text) => warnings.push(text) })

  it('delivers in order, by itself, and the rest at the end', async () => {
    const { sink, state } = sinkOf()
    const outbox = open([], sink)
    outbox.put([point(0), point(1)])
    await until(() => state.steps.length === 2)
    outbox.put([point(2)])
    expect(await outbox.close('finished', 1000)).toBe(0)
    expect(state).toMatchObject({ steps: [0, 1, 2], ending: 'finished' })
  })

  it('says once that a sink fails, keeps trying, says when it works again, and loses nothing', async () => {
    const { sink, state } = sinkOf()
    const warnings: string[] = []
    state.failing = true
    const outbox = open(warnings, sink)
    outbox.put([point(0)])
    await until(() => state.attempts >= 3)
    expect(warnings).toStrictEqual(['memory does not take metrics now, training goes on: the server is away'])
    expect(outbox.state).toMatchObject({ waiting: 1, givenUp: 0 })
    state.failing = false
    outbox.put([point(1)])
    await until(() => state.steps.length === 2)
    expect(warnings[1]).toBe('memory takes metrics again')
    expect(await outbox.close('finished', 1000)).toBe(0)
  })

  it('holds a bounded number of steps, and counts what it gives up and what never arrived', async () => {
    const { sink, state } = sinkOf()
    state.failing = true
    const outbox = open([], sink)
    for (let step = 0; step < 5100; step++) outbox.put([point(step)])
    expect(outbox.state).toMatchObject({ waiting: 5000, givenUp: 100 })
    expect(await outbox.close('stopped', 1000)).toBe(5100)
    expect(state.steps).toStrictEqual([])
  })

  it('does not wait longer than it may for a sink that hangs', async () => {
    const { sink } = sinkOf()
    const hanging: Sink = {
      ...sink,
      write: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off')))),
    }
    const outbox = open([], hanging)
    outbox.put([point(0)])
    expect(await outbox.close('failed', 50)).toBe(1)
  })
})

describe('a follower', () => {
  const follow = (attempt: number, before: string) => {
    const path = join(temporaryDirectory(), 'run', 'metrics.jsonl')
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, before)
    const [all, own] = [sinkOf(true), sinkOf(false)]
    const warnings: string[] = []
    const follower = new Follower({
      ...{ path, attempt, sinks: [all.sink, own.sink], everyMs: 5, patienceMs: 1000 },
      onWarning: (text) => warnings.push(text),
    })
    return { path, all: all.state, own: own.state, follower, warnings }
  }

  it('sends lines as they are written, whole ones only', async () => {
    const { path, all, follower } = follow(1, '')
    appendFileSync(path, metricsLine(1, 0))
    await until(() => all.steps.length === 1)
    appendFileSync(path, metricsLine(1, 1).slice(0, 30))
    appendFileSync(path, metricsLine(1, 1).slice(30))
    await follower.close('finished')
    expect(all.steps).toStrictEqual([0, 1])
  })

  it('begins with the history for a sink that begins anew, without the steps that are made again', async () => {
    const before = [0, 1, 2, 3].map((step) => metricsLine(1, step)).join('')
    const { path, all, own, follower } = follow(2, before)
    appendFileSync(path, metricsLine(2, 2))
    await follower.close('stopped')
    expect(all).toMatchObject({ steps: [0, 1, 2], ending: 'stopped' })
    expect(own.steps).toStrictEqual([2])
  })

  it('says at the end how much did not arrive, and what sends it', async () => {
    const { path, all, follower, warnings } = follow(1, '')
    all.failing = true
    appendFileSync(path, metricsLine(1, 0))
    await follower.close('finished')
    expect(warnings.at(-1)).toBe('memory did not take 1 steps; drift-grpo export sends all of them')
  })
})
