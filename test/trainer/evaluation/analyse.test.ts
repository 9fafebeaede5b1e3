import { describe, expect, it } from 'vitest'
import { EvaluationStatistics, type PairedResult } from '../../../data/records/evaluation.ts'
import { analyse } from '../../../trainer/evaluation/analyse.ts'
import { benjaminiHochberg } from '../../../trainer/statistics/benjamini-hochberg.ts'
import { makeSample, randomSamples } from '../../support/evaluations.ts'

const quick = { seed: 5, resamples: 1000 }
const base = randomSamples('base', 0.4, { prompts: 8 })
const trained = randomSamples('trained', 0.8, { prompts: 8 })
const statistics = analyse(base, trained, quick)

const find = (measure: string, node: PairedResult['node'], targetClass: string | null = null): PairedResult =>
  statistics.results.find(
    (one) => one.measure === measure && one.node === node && one.targetClass === targetClass,
  ) as PairedResult

describe('the analysis of an evaluation', () => {
  it('fits its record, and is equal to the digit when repeated or in another order', () => {
    expect(EvaluationStatistics.parse(statistics)).toStrictEqual(statistics)
    expect(analyse(base, trained, quick)).toStrictEqual(statistics)
    const inReverse = analyse(base.toReversed(), trained.toReversed(), quick)
    expect(inReverse.results.map(({ interval, p, q }) => [interval, p, q])).toStrictEqual(
      statistics.results.map(({ interval, p, q }) => [interval, p, q]),
    )
  })

  it('averages the samples of a prompt before it pairs', () => {
    const of = (promptId: string, ...totals: number[]) =>
      totals.map((total) => makeSample({ promptId, node: 'n1', components: { form: total } }))
    // One prompt has three samples, one has one: prompts count alike.
    const { results } = analyse([...of('a', 0, 0, 3), ...of('b', 1)], [...of('a', 4, 4, 4), ...of('b', 1)], quick)
    expect(results.find(({ measure }) => measure === 'reward')).toMatchObject({
      ...{ prompts: 2, leftOut: 0, base: 1, trained: 2.5, delta: 1.5, wins: 1, ties: 1, losses: 0 },
    })
  })

  it('leaves out, and counts, prompts without a score on either side', () => {
    const scored = makeSample({ promptId: 'a', node: 'n1', components: { form: 1 } })
    const unscored = makeSample({ promptId: 'b', node: 'n1', components: null })
    const { results, promptDeltas } = analyse([scored, { ...scored, promptId: 'b' }], [scored, unscored], quick)
    expect(results.find(({ measure }) => measure === 'reward')).toMatchObject({
      prompts: 1,
      leftOut: 1,
      interval: null,
    })
    expect(promptDeltas).toHaveLength(1)
  })

  it('has every component at every node in one family of tests', () => {
    const family = statistics.results.filter(({ q }) => q !== null)
    expect(family).toHaveLength(5 * 3)
    const adjusted = benjaminiHochberg(family.map(({ p }) => p))
    expect(family.map(({ q }) => q)).toStrictEqual(adjusted)
  })

  it('looks at classes of targets by themselves', () => {
    const [even, odd, both] = [
      find('exactly_right', 'n2', 'even'),
      find('exactly_right', 'n2', 'odd'),
      find('exactly_right', 'n2'),
    ]
    expect([even.prompts, odd.prompts, both.prompts]).toStrictEqual([4, 4, 8])
    expect((even.trained + odd.trained) / 2).toBeCloseTo(both.trained, 12)
  })

  it('says of each class what is right, and leaves its form to the node', () => {
    const of = (promptId: string, targetClass: string, right: number) =>
      makeSample({
        ...{ promptId, node: 'n1', components: { form: 1 }, targetClass, right: right === 1 },
        measures: { verdict_right: right, envelope: 1 },
      })
    const before = [of('a', 'aligned', 1), of('b', 'drifted', 0), of('c', 'drifted', 0)]
    const after = [of('a', 'aligned', 1), of('b', 'drifted', 1), of('c', 'drifted', 0)]
    const classes = analyse(before, after, quick).results.filter(({ targetClass }) => targetClass !== null)
    const found = classes.map(({ targetClass, measure, delta }) => [targetClass, measure, delta])
    expect(found).toStrictEqual([
      ...['reward', 'exactly_right', 'verdict_right'].map((measure) => ['aligned', measure, 0]),
      ...[
        ['drifted', 'reward', 0],
        ['drifted', 'exactly_right', 0.5],
        ['drifted', 'verdict_right', 0.5],
      ],
    ])
  })

  it('sees a gain that is there, with an interval around it', () => {
    const { delta, interval, p } = find('exactly_right', null)
    expect(delta).toBeGreaterThan(0.2)
    expect(interval!.low).toBeGreaterThan(0)
    expect(interval!.low).toBeLessThan(delta)
    expect(p).toBeLessThan(0.01)
  })

  it('lists prompts from the largest loss to the largest gain', () => {
    const deltas = statistics.promptDeltas.map(({ delta }) => delta)
    expect(deltas).toStrictEqual(deltas.toSorted((a, b) => a - b))
    expect(deltas).toHaveLength(40)
  })

  it('gives a measure to all nodes together only where each of them has it', () => {
    const one = makeSample({
      promptId: 'a',
      node: 'n5',
      components: { form: 1 },
      measures: { escalated: 1, envelope: 1 },
    })
    const other = makeSample({ promptId: 'b', node: 'n1', components: { form: 1 }, measures: { envelope: 1 } })
    const overall = analyse([one, other], [one, other], quick).results.filter(({ node }) => node === null)
    expect(overall.map(({ measure }) => measure)).toStrictEqual(['reward', 'component/form', 'envelope'])
  })
})
