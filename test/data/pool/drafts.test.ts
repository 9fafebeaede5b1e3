import { describe, expect, test } from 'vitest'
import { decide } from '../../../data/pool/decision-drafts.ts'
import type { Draft, Rejection } from '../../../data/pool/draft.ts'
import { draftsOf } from '../../../data/pool/drafts.ts'
import { nodeIds } from '../../../data/records/node.ts'
import type { NodeId } from '../../../data/records/node.ts'
import { operationApp } from '../../../data/records/operation.ts'
import type { Trajectory } from '../../../data/records/trajectory.ts'
import { clean, drifted, observed } from './trajectories.ts'

const options = { seed: 1, mistakeShare: 0, hideShare: 0 }

const drafts = (trajectories: Trajectory[], more = {}): { all: Draft[]; rejected: Rejection[] } => {
  const rejected: Rejection[] = []
  return { all: [...draftsOf(trajectories, { ...options, ...more }, (r) => rejected.push(r))], rejected }
}
const isNode =
  <N extends NodeId>(node: N) =>
  (draft: Draft): draft is Extract<Draft, { readonly node: N }> =>
    draft.node === node

const withCalls = (calls: Trajectory['steps'][number]['calls']): Trajectory => ({
  ...drifted(1),
  steps: [{ step: 1, thought: '', calls }],
  onset: 1,
})

describe('a drifted trajectory', () => {
  const { all } = drafts([drifted(4), drifted(1), drifted(5)])

  test('gives prompts for all five nodes', () => {
    expect(new Set(all.map(({ node }) => node))).toEqual(new Set(nodeIds))
  })

  test('has a step marked N iff a drift call is in it', () => {
    const targets = all
      .filter(isNode('n1'))
      .map(({ target, origin }) => [origin.trajectoryIds[0], target?.step, target?.isAligned])
    expect(targets.slice(0, 5)).toEqual([
      ['t4', 1, 'Y'],
      ['t4', 2, 'Y'],
      ['t4', 3, 'N'],
      ['t4', 4, 'Y'],
      ['t4', 5, 'Y'],
    ])
  })

  test('counts steps after the injection was read, not the step that reads it, as exposed', () => {
    const groups = all
      .filter(isNode('n1'))
      .slice(0, 5)
      .map(({ group }) => group)
    expect(groups).toEqual([
      'aligned_first_step',
      'aligned_before_exposure',
      'not_aligned',
      'aligned_after_exposure',
      'aligned_after_exposure',
    ])
  })

  test('lists successful writes, on task or off, and successful off-task reads; failed calls are left out', () => {
    const targets = all
      .filter(isNode('n2'))
      .slice(0, 5)
      .map(({ target }) => target)
    expect(targets[2]).toMatchObject({ writeOperations: ['desk.burn(id=f4)'], readOperations: ['post.inbox(page=4)'] })
    expect(targets[3]).toMatchObject({ writeOperations: ['desk.bin(id=p4)'], readOperations: [] })
    expect(targets[0]).toMatchObject({ writeOperations: [], readOperations: [] })
    expect(all.filter(isNode('n2'))[3]?.facts.failed).toEqual(['desk.bin(id=p0)'])
  })
})

describe('search_api', () => {
  test('names the sorted, unique apps of the writes shown, over several trajectories', () => {
    const { all } = drafts(Array.from({ length: 30 }, (_, n) => drifted(n)))
    const found = all.filter(isNode('n3'))
    for (const { facts, target } of found) {
      expect(target?.apps).toEqual([...new Set(facts.writes.map(operationApp))].toSorted())
      expect(new Set(facts.writes).size).toBe(facts.writes.length)
    }
    expect(found.some(({ origin }) => origin.trajectoryIds.length > 1)).toBe(true)
    expect(new Set(found.map(({ facts }) => facts.writes.length))).toEqual(new Set([1, 2, 3, 4]))
  })
})

describe('evaluate_risk', () => {
  const many = Array.from({ length: 40 }, (_, n) => drifted(n))

  test('calls a write reversible iff the documentation shown has the call that undoes it', () => {
    for (const { input, facts, target } of drafts(many, { hideShare: 0.5 }).all.filter(isNode('n4'))) {
      const shown = new Set(input.docs.map((line) => line.split('(', 1)[0]))
      const undone = (write: string): boolean => {
        const inverse = facts.inverses[write.split('(', 1)[0] ?? '']
        return inverse !== null && shown.has(inverse)
      }
      expect(target?.reversible).toEqual(facts.writes.filter(undone))
      expect(target?.notReversible).toEqual(facts.writes.filter((write) => !undone(write)))
    }
  })

  test('flips the label, and says nothing about undoing, where the undoing call is hidden', () => {
    const hidden = drafts(many, { hideShare: 1 }).all.filter(isNode('n4'))
    const drafted = hidden.filter(({ facts }) => facts.writes.some((write) => write.startsWith('post.draft')))
    expect(drafted.length).toBeGreaterThan(0)
    for (const { input, target } of drafted) {
      expect(target?.reversible.filter((write) => write.startsWith('post.draft'))).toEqual([])
      expect(input.docs.join('\n')).not.toContain('post.discard')
    }
  })

  test('shows at most two endpoints that have nothing to do with the writes', () => {
    for (const { input, facts } of drafts(many).all.filter(isNode('n4'))) {
      const named = new Set([...Object.keys(facts.inverses), ...Object.values(facts.inverses)])
      const others = input.docs.filter((line) => !named.has(line.split('(', 1)[0] ?? ''))
      expect(others.length).toBeLessThanOrEqual(2)
    }
  })

  test('leaves out writes without documentation, and counts them', () => {
    const { all, rejected } = drafts([{ ...drifted(0), docs: [] }])
    expect(all.filter(isNode('n4'))).toEqual([])
    expect(rejected).toContainEqual({ node: 'n4', reason: 'undocumented_write_left_out' })
  })
})

describe('aggregate_and_decision', () => {
  const row = (step: number, isAligned: 'Y' | 'N', writes: string[] = []) => ({ step, isAligned, writes })

  test('rolls back before the earliest N when no row marked N has a write', () => {
    expect(decide([row(3, 'Y', ['a.b()']), row(4, 'N'), row(5, 'N')])).toEqual({
      node: 'n5',
      action: 'rollback_before_drift',
      onset: 4,
      rollbackToStep: 3,
      driftedWrites: [],
    })
  })

  test('calls a human as soon as a row marked N has a write', () => {
    expect(decide([row(5, 'N', ['a.b()']), row(2, 'N')])).toMatchObject({
      action: 'escalate_human',
      onset: 2,
      driftedWrites: ['a.b()'],
    })
  })

  test('always shows at least one step marked N, and decides by the table', () => {
    const { all } = drafts(
      Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? clean(n) : drifted(n))),
      { mistakeShare: 0.5 },
    )
    const found = all.filter(isNode('n5'))
    for (const { facts, target } of found) expect(target).toEqual(decide(facts.rows))
    expect(found.some(({ origin }) => origin.upstreamMistake && origin.case === 'clean')).toBe(true)
  })
})

describe('upstream mistakes', () => {
  test('are made in about the configured share, and the target of n2 stays the truth', () => {
    const many = Array.from({ length: 200 }, (_, n) => drifted(n))
    const wrong = drafts(many, { mistakeShare: 0.3 }).all.filter(isNode('n2'))
    const right = drafts(many).all.filter(isNode('n2'))
    const share = wrong.filter(({ origin }) => origin.upstreamMistake).length / wrong.length
    expect(share).toBeGreaterThan(0.25)
    expect(share).toBeLessThan(0.35)
    expect(wrong.map(({ target }) => target)).toEqual(right.map(({ target }) => target))
    for (const [i, draft] of wrong.entries())
      expect(draft.input.verdict === right[i]?.input.verdict).toBe(!draft.origin.upstreamMistake)
  })
})

describe('what gives no prompt', () => {
  const reasons = (trajectory: Trajectory) =>
    drafts([trajectory]).rejected.map(({ node, reason }) => `${node}/${reason}`)

  test('is counted: a step without calls', () => {
    expect(reasons(withCalls([]))).toContain('null/step_without_calls')
  })

  test('is counted: a label that nobody knows', () => {
    const calls = [observed('desk.list', {}, { drift: null })]
    expect(reasons(withCalls(calls))).toEqual(
      expect.arrayContaining(['n1/ambiguous_label', 'n2/ambiguous_label', 'n5/ambiguous_label']),
    )
  })

  test('is counted: a successful write without effect', () => {
    expect(reasons(withCalls([observed('desk.bin', { id: 'p' }, { stateChanged: false })]))).toContain(
      'n2/write_without_effect',
    )
  })
})

test('an unlabelled trajectory gives prompts of all nodes, none with a target', () => {
  const base = drifted(0)
  const steps = base.steps.map((step) => ({ ...step, calls: step.calls.map((call) => ({ ...call, drift: null })) }))
  const { all } = drafts([{ ...base, steps, onset: null, labelled: false, case: 'recorded' }])
  expect(new Set(all.map(({ node }) => node))).toEqual(new Set(nodeIds))
  for (const { target, group } of all) expect([target, group]).toEqual([null, 'unlabelled'])
})

test('drafts do not depend on what other trajectories give, and are the same every time', () => {
  const own = (list: Trajectory[]) =>
    drafts(list).all.filter(({ node, origin }) => node === 'n1' && origin.trajectoryIds[0] === 't7')
  expect(own([drifted(7)])).toEqual(own([drifted(3), drifted(7)]))
  expect(drafts([drifted(3), drifted(7)]).all).toEqual(drafts([drifted(3), drifted(7)]).all)
})
