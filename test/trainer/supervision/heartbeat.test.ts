import { mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { RunStatus } from '../../../data/records/run.ts'
import { processStart } from '../../../trainer/lock.ts'
import { RunDirectory } from '../../../trainer/run-directory.ts'
import { Activity } from '../../../trainer/supervision/activity.ts'
import { startHeartbeat } from '../../../trainer/supervision/heartbeat.ts'
import { liveState } from '../../../trainer/supervision/run-state.ts'
import { settledRecorder } from '../../support/recorder.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

/** A clock that is set by hand, in seconds. */
const clockwork = () => {
  let at = 0
  return { activity: new Activity(() => at * 1000), pass: (seconds: number) => void (at += seconds) }
}

describe('what a run is at', () => {
  it('is a stall when nothing comes of it for long, said once, and again after it went on', () => {
    const { activity, pass } = clockwork()
    activity.enter('sampling')
    pass(20)
    activity.progressed()
    pass(300)
    expect(activity.stall()).toBeNull()
    pass(1)
    expect(activity.stall()).toBe(
      'no progress for 301 s: sampling, waits for completions of the sampler, 1 of them have come',
    )
    pass(100)
    expect(activity.stall()).toBeNull()
    activity.progressed()
    pass(301)
    expect(activity.stall()).toMatch(/^no progress for 301 s: sampling/)
  })

  it('is no stall as long as it takes not much longer than it did before', () => {
    const { activity, pass } = clockwork()
    activity.enter('sampling')
    pass(200)
    activity.progressed()
    pass(1000)
    expect(activity.stall()).toBeNull()
    pass(1)
    expect(activity.stall()).toMatch(/^no progress for 1001 s/)
  })

  it('does not take a stall for what is usual', () => {
    const { activity, pass } = clockwork()
    activity.enter('publishing')
    pass(4000)
    expect(activity.stall()).not.toBeNull()
    activity.enter('publishing')
    pass(301)
    expect(activity.stall()).toMatch(/waits for the adapter/)
  })

  it('does not count an outage, neither as a stall nor as what is usual', () => {
    const { activity, pass } = clockwork()
    activity.enter('sampling')
    pass(5000)
    activity.resume()
    expect(activity.stall()).toBeNull()
    activity.progressed()
    pass(301)
    expect(activity.stall()).toMatch(/^no progress for 301 s/)
  })

  it('has a patience for each phase, and none while it starts', () => {
    const { activity, pass } = clockwork()
    pass(100_000)
    expect(activity.stall()).toBeNull()
    activity.enter('updating')
    pass(900)
    expect(activity.stall()).toBeNull()
    pass(1)
    expect(activity.stall()).toMatch(/: updating, waits for the worker$/)
  })
})

describe('a heartbeat', () => {
  const setUp = () => {
    const run = new RunDirectory(temporaryDirectory(), 'r')
    mkdirSync(run.root)
    const recorder = settledRecorder(run)
    const read = () => RunStatus.parse(JSON.parse(readFileSync(run.at('status.json'), 'utf8')))
    return { recorder, read }
  }

  it('says in the status that the process lives, and what it is at, until it is stopped', async () => {
    const { recorder, read } = setUp()
    await recorder.status('running', null)
    const before = read()
    const stop = startHeartbeat({ recorder, onStall: () => undefined, everyMs: 5 })
    recorder.activity.enter('updating')
    await expect.poll(() => read().heartbeat?.phase).toBe('updating')
    const { heartbeat, ...rest } = read()
    expect(heartbeat).toMatchObject({ startedAt: processStart(process.pid), host: hostname() })
    expect({ ...rest, heartbeat: before.heartbeat }).toEqual(before)
    await stop()
    const last = read()
    recorder.activity.enter('sampling')
    await new Promise((resolve) => setImmediate(resolve))
    expect(read()).toEqual(last)
  })

  it('never takes a newer status back', async () => {
    const { recorder, read } = setUp()
    await recorder.status('running', null)
    const beating = recorder.beat()
    await Promise.all([beating, recorder.status('finished', null), recorder.beat()])
    expect(read().state).toBe('finished')
  })

  it('tells of a stall, but not while the run waits for somebody to come back', async () => {
    const told: string[] = []
    const beatTwice = async (isPaused: boolean): Promise<void> => {
      let beats = 0
      const recorder = {
        isPaused,
        activity: { stall: () => 'no progress' } as unknown as Activity,
        beat: async () => void (beats += 1),
      }
      const stop = startHeartbeat({ recorder, onStall: (text) => told.push(text), everyMs: 1 })
      await expect.poll(() => beats).toBeGreaterThan(1)
      await stop()
    }
    await beatTwice(true)
    expect(told).toEqual([])
    await beatTwice(false)
    expect(told).toContain('no progress')
  })
})

describe('the state of a run', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const heartbeat = { at, startedAt: '1', host: 'elsewhere', phase: 'sampling', since: at }
  const status: RunStatus = {
    ...{ state: 'running', step: 1, steps: 4, policyVersion: 1, adapter: null, attempt: 1, pid: 1 },
    ...{ updatedAt: at, message: null, heartbeat },
  }
  const holder = { pid: 1, startedAt: '1', host: 'elsewhere' }
  const later = (seconds: number) => Date.parse(at) + seconds * 1000

  it('is lost when it says that it runs and nobody holds it', () => {
    expect(liveState(status, undefined, later(1))).toBe('lost')
    expect(liveState({ ...status, state: 'failed' }, undefined, later(1))).toBe('failed')
  })

  it('is lost when it runs on another machine and has been silent for long', () => {
    expect(liveState(status, holder, later(100))).toBe('running')
    expect(liveState(status, holder, later(200))).toBe('lost')
    // A process of this machine can be looked for: however long it is silent, it is there.
    expect(liveState(status, { ...holder, host: hostname() }, later(200))).toBe('running')
  })
})
