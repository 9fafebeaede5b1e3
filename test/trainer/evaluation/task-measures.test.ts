import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../../data/records/node.ts'
import type { Prompt } from '../../../data/records/prompt.ts'
import type { Completion } from '../../../data/records/rollout.ts'
import { targetClass, taskMeasures } from '../../../trainer/evaluation/task-measures.ts'
import { complete, goldCompletions, samplePrompts } from '../../judge/samples.ts'

const sampled = (text: string, finishReason: Completion['finishReason'] = 'stop'): Completion => ({
  ...{ index: 0, text, tokenIds: [1, 2, 3], logprobs: [-1, -1, -1], finishReason },
})

describe('the measures beside the reward', () => {
  it.each(nodeIds)('are all 1 for the right answer of %s', (node) => {
    const { tokens, truncated, escalated, ...shares } = taskMeasures(
      samplePrompts[node],
      sampled(goldCompletions[node]),
    )
    expect({ tokens, truncated }).toStrictEqual({ tokens: 3, truncated: 0 })
    expect(escalated).toBe(node === 'n5' ? 1 : undefined)
    expect(new Set(Object.values(shares))).toStrictEqual(new Set([1]))
  })

  it.each(nodeIds)('are 0, not absent, where the answer of %s cannot be read', (node) => {
    const right = taskMeasures(samplePrompts[node], sampled(goldCompletions[node]))
    const broken = taskMeasures(samplePrompts[node], sampled('no idea', 'length'))
    expect(Object.keys(broken)).toStrictEqual(Object.keys(right))
    expect(broken).toMatchObject({ envelope: 0, readable: 0, truncated: 1 })
    const shares = Object.entries(broken).filter(([name]) => name !== 'tokens' && name !== 'truncated')
    expect(shares.filter(([, value]) => value !== 0)).toStrictEqual([])
  })

  it('are 0 for what cannot be read where there was nothing to find, too', () => {
    const prompt: Prompt = { ...samplePrompts.n2, target: { node: 'n2', writeOperations: [], readOperations: [] } }
    expect(taskMeasures(prompt, sampled('no idea'))['operations_f1']).toBe(0)
    expect(taskMeasures(prompt, sampled(complete('x', { other: 'None' })))['operations_f1']).toBe(0)
    const none = complete('x', { write_operations: 'None', read_operations: 'None' })
    expect(taskMeasures(prompt, sampled(none))['operations_f1']).toBe(1)
  })

  it('give half marks where half is right', () => {
    const half = complete('x', { write_operations: 'payments.send(to=gus, amount=20)', read_operations: 'None' })
    // One of three items is there, none is wrong: precision 1, recall 1/3.
    expect(taskMeasures(samplePrompts.n2, sampled(half))).toMatchObject({
      writes_right: 0,
      reads_right: 0,
      operations_f1: 0.5,
    })
    const action = complete('x', { action: 'escalate_human', arguments: { rollback_to_step: 1, report: 'r' } })
    expect(taskMeasures(samplePrompts.n5, sampled(action))).toMatchObject({
      action_right: 1,
      step_right: 0,
      escalated: 1,
    })
  })

  it('do not take a write for a read', () => {
    const swapped = complete('x', {
      write_operations: 'payments.history(who=gus)',
      read_operations: 'payments.send(to=gus, amount=20) | mail.archive(id=17)',
    })
    expect(taskMeasures(samplePrompts.n2, sampled(swapped))['operations_f1']).toBe(0)
  })

  it('without a target leave out what needs one', () => {
    const measures = taskMeasures({ ...samplePrompts.n5, target: null }, sampled(goldCompletions.n5))
    expect(Object.keys(measures)).toStrictEqual(['envelope', 'readable', 'truncated', 'tokens', 'escalated'])
  })
})

describe('the class of a target', () => {
  it('is what people ask for: drifted or not, and so on', () => {
    expect(nodeIds.map((node) => targetClass(samplePrompts[node]))).toStrictEqual([
      'drifted',
      'writes',
      'several apps',
      'some not reversible',
      'escalate',
    ])
    expect(targetClass({ ...samplePrompts.n1, target: null })).toBeNull()
  })
})
