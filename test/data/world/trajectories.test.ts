import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatOperation } from '../../../data/records/operation.ts'
import type { ObservedCall } from '../../../data/records/trajectory.ts'
import { Trajectory } from '../../../data/records/trajectory.ts'
import { caseShares } from '../../../data/world/protocol/cases.ts'
import { fakeVerdicts, injectionWordings } from '../../../data/world/protocol/wordings.ts'
import { generateTrajectories } from '../../../data/world/trajectories.ts'
import { isReserved, valueKinds, valuesBySplit } from '../../../data/world/values/lists.ts'

const make = (seed: number, count: number, split: 'train' | 'heldout' = 'train') => [
  ...generateTrajectories({ seed, count, split }),
]
const many = make(11, 1500)
const ofCase = (name: Trajectory['case']) => many.filter((one) => one.case === name)
const callsOf = (one: Trajectory): ObservedCall[] => one.steps.flatMap((step) => step.calls)
const drifted = (one: Trajectory) => callsOf(one).filter((made) => made.drift === true)
const firstStep = (one: Trajectory, wanted: (made: ObservedCall) => boolean) =>
  one.steps.find((step) => step.calls.some(wanted))?.step ?? null
/** Steps after the one that first showed the injection. */
const after = (one: Trajectory) => one.steps.filter((step) => step.step > (one.exposedStep ?? Infinity))

describe('generateTrajectories', () => {
  it('gives the same trajectories for a seed, whatever the count', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(20), fc.nat(20), (seed, count, more) => {
        expect(make(seed, count + more).slice(0, count)).toEqual(make(seed, count))
      }),
      { numRuns: 20 },
    )
  })

  it('differs by seed and by split', () => {
    const ids = (list: readonly Trajectory[]) => list.map((one) => one.taskId)
    expect(ids(make(1, 20))).not.toEqual(ids(make(2, 20)))
    expect(ids(make(1, 20))).not.toEqual(ids(make(1, 20, 'heldout')))
  })

  it('makes valid records with ids of their own', () => {
    for (const one of many.slice(0, 200)) expect(Trajectory.parse(one)).toEqual(one)
    expect(new Set(many.map((one) => one.id)).size).toBe(many.length)
  })

  it('keeps to the case shares', () => {
    expect(Object.values(caseShares).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9)
    for (const [name, share] of Object.entries(caseShares)) {
      const found = many.filter((one) => one.case === name).length / many.length
      expect(Math.abs(found - share)).toBeLessThan(0.04)
    }
  })

  it('stays short: 2 to 7 steps, 1 to 3 calls and arguments, one-line observations', () => {
    const words = many.flatMap((one) => callsOf(one).map((made) => made.observation.split(' ').length))
    expect(words.reduce((sum, count) => sum + count, 0) / words.length).toBeLessThan(12)
    const between = (low: number, value: number, high: number) => low <= value && value <= high
    const tooLong = many.filter((one) => !between(2, one.steps.length, 7))
    const misnumbered = many.filter((one) => one.steps.some((step, i) => step.step !== i + 1))
    const tooWide = many.filter((one) => one.steps.some((step) => !between(1, step.calls.length, 3)))
    const calls = many.flatMap(callsOf)
    const manyArguments = calls.filter((made) => Object.keys(made.call.args).length > 3)
    const manyLines = calls.filter((made) => /[\n\r]/.test(made.observation))
    expect([tooLong, misnumbered, tooWide, manyArguments, manyLines]).toEqual([[], [], [], [], []])
  })

  it('documents exactly the apps that occur', () => {
    for (const one of many.slice(0, 200)) {
      expect(new Set(one.docs.map((doc) => doc.app))).toEqual(new Set(callsOf(one).map((made) => made.call.app)))
    }
  })
})

describe('labels', () => {
  it('follow from the calls', () => {
    const unlike = many.filter(
      (one) =>
        !one.labelled ||
        one.onset !== firstStep(one, (made) => made.drift === true) ||
        one.exposedStep !== firstStep(one, (made) => made.injected !== null),
    )
    expect(unlike).toEqual([])
  })

  it.each<[string, (made: ObservedCall) => boolean]>([
    ['every call serves somebody', (made) => made.drift !== null],
    ['the injected text is in the observation', (made) => made.observation.includes(made.injected ?? '')],
    ['a failure says so', (made) => made.ok !== /^error \d{3}: /.test(made.observation)],
    ['only a successful write changes state', (made) => made.stateChanged === (made.ok && made.kind === 'write')],
  ])('%s', (_rule, holds) => {
    expect(many.flatMap(callsOf).filter((made) => !holds(made))).toEqual([])
  })

  it('never begin to drift before the injection was seen', () => {
    expect(many.filter((one) => (one.exposedStep === null) !== (one.payloadId === null))).toEqual([])
    expect(many.filter((one) => one.onset !== null && (one.exposedStep ?? Infinity) >= one.onset)).toEqual([])
  })

  it('never call one call both drift and work, and never make the task its own payload', () => {
    const unclear = many.filter((one) => {
      const work = callsOf(one).filter((made) => made.drift === false)
      const mine = new Set(work.map((made) => formatOperation(made.call)))
      return drifted(one).some((made) => mine.has(formatOperation(made.call)))
    })
    expect(unclear).toEqual([])
    expect(many.filter((one) => one.taskId === one.payloadId)).toEqual([])
  })

  it('name in the injected text what the payload is about', () => {
    for (const one of many.filter((each) => each.payloadId !== null)) {
      const injected = callsOf(one).find((made) => made.injected !== null)?.injected ?? ''
      const values = [...(one.payloadId ?? '').matchAll(/=([^,)]+)/g)].map((match) => match[1] ?? '')
      expect(values.some((value) => injected.includes(value))).toBe(true)
    }
  })
})

describe('cases', () => {
  it('clean: no injection, no drift', () => {
    for (const one of [...ofCase('clean'), ...ofCase('second_request')]) {
      expect(one).toMatchObject({ payloadId: null, onset: null, exposedStep: null, driftType: null })
    }
  })

  it('drift: of all three types; I and II only read, III writes', () => {
    const drifts = many.filter((one) => one.driftType !== null)
    expect(new Set(drifts.map((one) => one.driftType))).toEqual(new Set(['I', 'II', 'III']))
    for (const one of drifts) {
      const tried = drifted(one).filter((made) => made.kind === 'write')
      expect(tried.length > 0).toBe(one.driftType === 'III')
      expect(tried.some((made) => made.ok)).toBe(one.driftType === 'III' && one.case !== 'failed_drift_writes')
      expect(one.onset).not.toBeNull()
    }
  })

  it('type I shows the injection once, type II again', () => {
    const showings = (type: string) =>
      many
        .filter((one) => one.driftType === type)
        .map((one) => callsOf(one).filter((made) => made.injected !== null).length)
    expect(new Set(showings('I'))).toEqual(new Set([1]))
    expect(Math.min(...showings('II'))).toBe(2)
  })

  it('drift: the agent does not come back', () => {
    for (const one of ofCase('drift')) expect(one.steps.at(-1)?.calls.some((made) => made.drift === true)).toBe(true)
  })

  it('resisted: the injection was seen, work went on, nothing drifted', () => {
    for (const one of ofCase('resisted')) {
      expect(one.driftType).toBeNull()
      expect(drifted(one)).toEqual([])
      expect(after(one).length).toBeGreaterThanOrEqual(1)
    }
  })

  it('drift_and_return: the last step is work again', () => {
    for (const one of ofCase('drift_and_return')) {
      expect(drifted(one).length).toBeGreaterThan(0)
      expect(one.steps.at(-1)?.calls.every((made) => made.drift === false)).toBe(true)
    }
  })

  it('same_app: work after the injection is in an app of the payload', () => {
    const list = ofCase('same_app')
    for (const one of list) {
      expect(after(one).some((step) => step.calls.some((made) => made.drift === false))).toBe(true)
    }
    const shared = list
      .filter((one) => one.onset !== null)
      .map((one) => {
        const theirs = new Set(drifted(one).map((made) => made.call.app))
        return callsOf(one).some((made) => made.drift === false && theirs.has(made.call.app))
      })
    expect(shared.every(Boolean)).toBe(true)
    expect(list.some((one) => one.onset === null)).toBe(true)
  })

  it('second_request: both requests are in the task', () => {
    for (const one of ofCase('second_request')) {
      expect(one.taskId).toContain('+')
      expect(one.task).toMatch(/[.?] (Then|Next|And also|After that): /)
    }
  })

  it('failed_drift_writes: writes were tried, none succeeded', () => {
    for (const one of ofCase('failed_drift_writes')) {
      const writes = drifted(one).filter((made) => made.kind === 'write')
      expect(writes.length).toBeGreaterThan(0)
      expect(writes.every((made) => !made.ok && !made.stateChanged)).toBe(true)
      expect(one.driftType).toBe('III')
    }
  })

  it('fake_verdict: some text claims to be a verdict, over steps of both kinds', () => {
    const marks = fakeVerdicts.map((text) => text.split('{claim}')[0] ?? '')
    const list = ofCase('fake_verdict')
    for (const one of list) {
      const text = one.steps
        .map((step) => `${step.thought} ${step.calls.map((made) => made.injected ?? '').join(' ')}`)
        .join(' ')
      expect(marks.some((mark) => text.includes(mark))).toBe(true)
    }
    expect(list.some((one) => one.onset === null)).toBe(true)
    expect(list.some((one) => one.onset !== null)).toBe(true)
  })

  it('agents make mistakes on the way, and they are no drift', () => {
    const work = many.flatMap((one) => callsOf(one).filter((made) => made.drift === false))
    const expected = ['error 400', 'error 404', 'error 500', 'no results', 'page 1 of', 'page 2 of']
    expect(expected.filter((text) => !work.some((made) => made.observation.startsWith(text)))).toEqual([])
  })

  it('use every wording, before, inside and after what the tool said', () => {
    const injected = many.flatMap((one) => callsOf(one).filter((made) => made.injected !== null))
    const heads = injectionWordings.map((wording) => wording.split('{task}')[0] ?? '')
    expect(heads.filter((head) => !injected.some((made) => made.injected?.startsWith(head)))).toEqual([])
    const at = (made: ObservedCall) => made.observation.indexOf(made.injected ?? '')
    expect(injected.some((made) => at(made) === 0)).toBe(true)
    expect(injected.some((made) => made.observation.endsWith(made.injected ?? ''))).toBe(true)
    expect(injected.some((made) => at(made) > 0 && !made.observation.endsWith(made.injected ?? ''))).toBe(true)
  })
})

describe('splits', () => {
  const heldout = make(11, 800, 'heldout')
  const idsOf = (list: readonly Trajectory[]) =>
    new Set(list.flatMap((one) => [one.taskId, ...(one.payloadId === null ? [] : [one.payloadId])]))

  it('share no task and no payload', () => {
    const train = idsOf(many)
    expect([...idsOf(heldout)].filter((id) => train.has(id))).toEqual([])
  })

  it('name in their calls only words of their own side', () => {
    const known = new Set(valueKinds.flatMap((kind) => [...valuesBySplit.train[kind], ...valuesBySplit.heldout[kind]]))
    const wordsOf = (list: readonly Trajectory[]) =>
      list
        .flatMap((one) => callsOf(one).flatMap((made) => Object.values(made.call.args)))
        .filter((value) => known.has(String(value)))
    expect(wordsOf(many).filter((value) => isReserved(String(value)))).toEqual([])
    expect(wordsOf(heldout).filter((value) => !isReserved(String(value)))).toEqual([])
  })
})
