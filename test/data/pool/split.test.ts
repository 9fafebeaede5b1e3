import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitIds, type Rejection } from '../../../data/pool/draft.ts'
import { assertDisjoint, components, splitTrajectories } from '../../../data/pool/split.ts'
import { buildPool } from '../../../data/pool/build.ts'
import type { Split } from '../../../data/records/prompt.ts'
import type { Trajectory } from '../../../data/records/trajectory.ts'
import { generateTrajectories } from '../../../data/world/trajectories.ts'
import { drifted, testSource } from './trajectories.ts'

/** Taken apart here by the letter of the test's own ids, not by the code under test. */
const keys = (list: readonly Trajectory[]): Set<string> =>
  new Set(list.flatMap(({ taskId, payloadId }) => `${taskId} ${payloadId ?? ''}`.match(/k\d+\(\)/g) ?? []))

const optional = fc.option(fc.nat(15))
const pairs = fc.array(fc.tuple(fc.nat(15), optional, optional), { minLength: 1, maxLength: 120 }).map((list) =>
  list.map(([task, second, payload], i) =>
    drifted(i, {
      taskId: second === null ? `k${task}()` : `k${task}()+k${second}()`,
      payloadId: payload === null ? null : `k${payload}()`,
    }),
  ),
)

describe('splitting', () => {
  test('puts no task and no payload into both splits, and loses no trajectory unseen', () => {
    fc.assert(
      fc.property(pairs, fc.nat(), fc.constantFrom(0.05, 0.2, 0.5), (trajectories, seed, share) => {
        const rejected: Rejection[] = []
        const { train, heldout } = splitTrajectories(trajectories, { seed, share }, (r) => rejected.push(r))
        const held = keys(heldout)
        expect([...keys(train)].filter((key) => held.has(key))).toEqual([])
        expect(train.length + heldout.length + rejected.length).toBe(trajectories.length)
      }),
    )
  })

  test('finds components that share nothing', () => {
    fc.assert(
      fc.property(pairs, (trajectories) => {
        const found = components(trajectories)
        expect(found.flat()).toHaveLength(trajectories.length)
        const seen = new Set<string>()
        for (const own of found.map(keys)) {
          for (const key of own) expect(seen.has(key)).toBe(false)
          for (const key of own) seen.add(key)
        }
      }),
    )
  })

  test('holds out a part of tasks that are crossed with every payload', () => {
    const crossed = Array.from({ length: 400 }, (_, n) =>
      drifted(n, { taskId: `task${n % 20}`, payloadId: `payload${Math.floor(n / 20)}` }),
    )
    const { train, heldout } = splitTrajectories(crossed, { seed: 3, share: 0.04 }, () => undefined)
    expect(heldout.length).toBeGreaterThan(0)
    expect(train.length).toBeGreaterThan(200)
  })

  test('leaves trajectories where their maker put them', () => {
    const reserved = [drifted(1, { split: 'heldout' }), drifted(2, { split: 'train' })]
    const { train, heldout } = splitTrajectories(reserved, { seed: 0, share: 0.5 }, () => undefined)
    expect([train.map(({ id }) => id), heldout.map(({ id }) => id)]).toEqual([['t2'], ['t1']])
  })
})

test('a session with two requests and a prompt of several trajectories are taken apart into their tasks', () => {
  expect(splitIds('mail.star(person=lena)+notes.pin(topic=tax)')).toEqual([
    'mail.star(person=lena)',
    'notes.pin(topic=tax)',
  ])
  expect(splitIds('files.read(file=c++.txt) + mail.star(person=lena)+chat.leave(channel=x)')).toEqual([
    'files.read(file=c++.txt)',
    'mail.star(person=lena)',
    'chat.leave(channel=x)',
  ])
  expect(splitIds('c++ suite/user_task_1')).toEqual(['c++ suite/user_task_1'])
})

test('a task that is the second request of a training prompt is refused in a held-out one', () => {
  const options = { train: 20, heldout: 20, seed: 1, mistakeShare: 0, hideShare: 0, examples: 0 } as const
  const { prompts } = buildPool(testSource, options)
  const [first, second] = (['heldout', 'train'] as const).map((split) => prompts.find((one) => one.split === split))
  if (first === undefined || second === undefined) throw new Error('a split is empty')
  const held = { ...first, origin: { ...first.origin, taskId: 'mail.star(person=lena)' } }
  const asked = { ...second, origin: { ...second.origin, taskId: 'chat.leave(channel=x)+mail.star(person=lena)' } }
  expect(() => assertDisjoint([held, asked])).toThrow('mail.star(person=lena) is in both splits')
})

test('the simulated world asks for no task in both splits, first or second request', () => {
  const tasks = (split: Split): Set<string> =>
    new Set(
      [...generateTrajectories({ seed: 3, count: 1500, split })].flatMap(({ taskId, payloadId }) =>
        `${taskId}+${payloadId ?? ''}`.split('+'),
      ),
    )
  const [train, held] = [tasks('train'), tasks('heldout')]
  expect([...train].filter((task) => task !== '' && held.has(task))).toEqual([])
})

test('a prompt whose task is in the other split is refused by name', () => {
  const options = { train: 20, heldout: 20, seed: 1, mistakeShare: 0, hideShare: 0, examples: 0 } as const
  const { prompts } = buildPool(testSource, options)
  const first = prompts.find(({ split }) => split === 'heldout')
  if (first === undefined) throw new Error('no held-out prompt')
  expect(() => assertDisjoint(prompts)).not.toThrow()
  expect(() => assertDisjoint([...prompts, { ...first, split: 'train' }])).toThrow('is in both splits')
})
