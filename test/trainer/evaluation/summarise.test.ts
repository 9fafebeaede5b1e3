import { describe, expect, it } from 'vitest'
import { EvaluationSummary, type EvaluationSample } from '../../../data/records/run.ts'
import type { NodeId } from '../../../data/records/node.ts'
import { chooseHeldout, promptSetHash } from '../../../trainer/evaluation/heldout.ts'
import { compareSamples } from '../../../trainer/evaluation/summarise.ts'
import { renderEvaluation } from '../../../trainer/evaluation-table.ts'
import { scoreOf } from '../../support/assessed.ts'
import { shortPool } from '../../support/tiny-training.ts'

const sample = (
  promptId: string,
  node: NodeId,
  form: number | null,
  right: boolean | null = null,
): EvaluationSample => ({
  promptId,
  node,
  policyName: 'p',
  seed: 0,
  completion: {
    index: 0,
    text: '',
    tokenIds: [1, 2],
    logprobs: [-1, -1],
    finishReason: form === 0 ? 'length' : 'stop',
  },
  score: scoreOf(form === null ? null : { form, judge: form / 10 }),
  verdict: form === null ? null : { score: form / 10, reason: '', model: 'm', cached: false, latencyMs: 0 },
  exactlyRight: right,
  targetClass: null,
  measures: {},
})

describe('the comparison of base and trained', () => {
  const base = [
    sample('a', 'n1', 1),
    sample('a', 'n1', 3),
    sample('b', 'n1', 2),
    sample('b', 'n1', 2),
    sample('c', 'n4', 1, false),
    sample('c', 'n4', null),
  ]
  const trained = [
    sample('a', 'n1', 4),
    sample('a', 'n1', 1),
    sample('b', 'n1', 4),
    sample('b', 'n1', 0),
    sample('c', 'n4', 0, true),
    sample('c', 'n4', 0, true),
  ]
  const { all, nodes } = compareSamples(base, trained)

  it('pairs prompts by their means over samples', () => {
    expect(nodes.n1).toMatchObject({ improved: 1, equal: 1, worse: 0, improvedShare: 0.5 })
    expect(all).toMatchObject({ improved: 1, equal: 1, worse: 1 })
  })

  it('leaves unscored samples out of every mean, and counts them', () => {
    expect(nodes.n4?.base).toMatchObject({ unscored: 1, reward: 1.1, samples: 2, prompts: 1, exactlyRight: 0 })
    expect(nodes.n4?.trained).toMatchObject({
      unscored: 0,
      reward: 0,
      truncated: 1,
      exactlyRight: 1,
      components: { form: 0 },
    })
    expect(all.base.judge).toBeCloseTo((1 + 3 + 2 + 2 + 1) / 50, 12)
  })

  it('has null where there is nothing to take a mean of', () => {
    expect(nodes.n1?.base.exactlyRight).toBeNull()
    expect(compareSamples([], []).all).toMatchObject({ improvedShare: null, base: { reward: null } })
  })

  it('is shown as one table by node and one by component', () => {
    const summary = EvaluationSummary.parse({
      name: 'final',
      at: '2026-01-01T00:00:00.000Z',
      baseName: 'base',
      trainedName: 'p',
      policyVersion: 9,
      step: 9,
      adapter: null,
      decoding: { samples: 2, temperature: 1, maxTokens: 9, seed: 0 },
      promptSetHash: '',
      targetSetHash: '',
      judge: 'reference',
      rewards: { profile: 'paper', hash: '', maxima: {} },
      rewardMaximum: 5.6,
      all,
      nodes,
      seconds: 1,
    })
    const text = renderEvaluation(summary)
    expect(text).toContain(
      'Base against policy version 9: 3 held-out prompts, 2 samples each, temperature 1; R is at most 5.60; judge: reference',
    )
    expect(text).toContain('1 completions could not be scored')
    expect(text).toMatch(/^n1 classify_drift +2 +2\.20 → 2\.48 +\+0\.27 +50 % \(1\/1\/0\)/m)
    expect(text).toMatch(/^n4 evaluate_risk .*0 % → 100 %/m)
    expect(text).toMatch(/^form +1\.80 → 1\.50 +−0\.30$/m)
  })
})

describe('held-out prompts', () => {
  const heldout = shortPool(0, 23).map((prompt) => ({ prompt, tokenIds: [1] }))

  it('come from the nodes in turn, always the same ones', () => {
    const chosen = chooseHeldout(heldout, 12)
    const counts = ['n1', 'n2', 'n3', 'n4', 'n5'].map(
      (node) => chosen.filter(({ prompt }) => prompt.node === node).length,
    )
    expect(counts).toEqual([3, 3, 2, 2, 2])
    expect(chooseHeldout(heldout, 100)).toHaveLength(23)
  })

  it('have an identity that does not depend on their order', () => {
    expect(promptSetHash(heldout)).toBe(promptSetHash(heldout.toReversed()))
    expect(promptSetHash(heldout)).not.toBe(promptSetHash(heldout.slice(1)))
  })
})
