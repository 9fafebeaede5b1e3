import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import type { EvaluationSample, EvaluationSummary } from '../../../data/records/run.ts'
import type { EvaluationSide } from '../../../trainer/evaluation/load.ts'
import { regressionVerdict, type RegressionOptions } from '../../../trainer/evaluation/regression.ts'
import { junitVerdict } from '../../../trainer/evaluation/regression-junit.ts'
import { renderVerdict } from '../../../trainer/evaluation/regression-text.ts'
import { makeSummary, randomSamples } from '../../support/evaluations.ts'

const side = (samples: readonly EvaluationSample[], changes: Partial<EvaluationSummary> = {}): EvaluationSide => ({
  label: 'made up',
  side: 'trained',
  summary: makeSummary(samples, samples, changes),
  samples,
})

const good = randomSamples('good', 0.7)
const quick: RegressionOptions = { resamples: 2000 }
const verdict = (trained: EvaluationSide, options: RegressionOptions = {}) =>
  regressionVerdict(side(good), trained, { ...quick, ...options })

/** One component gives nothing any more. */
const breakComponent = (samples: readonly EvaluationSample[], name: string): EvaluationSample[] =>
  samples.map((sample) => {
    if (sample.score.kind !== 'scored') return sample
    const lost = sample.score.components[name]!
    const components = { ...sample.score.components, [name]: { ...lost, raw: 0, weighted: 0 } }
    return { ...sample, score: { ...sample.score, components, total: sample.score.total - lost.weighted } }
  })

describe('the verdict', () => {
  it('passes a model compared with itself, whatever it fails on', () => {
    const itself = verdict(side(good), { failOn: ['total', 'node', 'component', 'accuracy'] })
    expect(itself).toMatchObject({ verdict: 'pass', regressions: [] })
    expect(itself.tests.every(({ delta, ties, prompts }) => delta === 0 && ties === prompts)).toBe(true)
    expect(itself.tests).toHaveLength(1 + 5 + 5 * 3 + 6)
  })

  it('passes a better model', () => {
    expect(verdict(side(randomSamples('better', 0.95)))).toMatchObject({ verdict: 'pass' })
  })

  it('names a broken component at every node, and no other one', () => {
    const { regressions } = verdict(side(breakComponent(good, 'strict_format')), { failOn: ['component'] })
    expect(regressions).toHaveLength(5)
    expect(regressions).toContain('n3 search_api: strict_format')
    expect(regressions.every((name) => name.endsWith(': strict_format'))).toBe(true)
  })

  it('names the node whose answers got worse, and no other one', () => {
    const worse = good.map((sample) => (sample.node === 'n4' ? breakComponent([sample], 'judge')[0]! : sample))
    expect(verdict(side(worse), { failOn: ['node'] }).regressions).toStrictEqual(['n4 evaluate_risk: reward'])
  })

  it('sees accuracy fall while the reward does not', () => {
    const gamed = good.map((sample) => ({ ...sample, exactlyRight: false }))
    expect(verdict(side(gamed)).regressions).toContain('accuracy')
    expect(verdict(side(gamed), { failOn: ['total'] }).verdict).toBe('pass')
  })

  it('does not look at a fall within the margin', () => {
    const lower = breakComponent(good, 'strict_format')
    const fall = verdict(side(lower), { failOn: ['total'] }).tests[0]!
    expect(fall).toMatchObject({ regressed: true, margin: 0.05 })
    expect(verdict(side(lower), { failOn: ['total'], minDelta: 1 }).verdict).toBe('pass')
    expect(verdict(side(lower), { failOn: ['total'], minDelta: 0 }).verdict).toBe('regression')
  })

  it('says how large a fall must be that nothing else accompanies: the alpha of each test shrinks with their number', () => {
    const other = side(randomSamples('other', 0.6))
    const detectable = (options: RegressionOptions) =>
      verdict(other, options).tests.find(({ name }) => name === 'total reward')?.detectable ?? 0
    const alone = detectable({ failOn: ['total'], alpha: 0.05 / 12 })
    expect(detectable({ failOn: ['total', 'node', 'accuracy'], alpha: 0.05 })).toBeCloseTo(alone, 12)
    expect(alone).toBeGreaterThan(detectable({ failOn: ['total'], alpha: 0.05 }))
  })

  it('is the same to the digit when it is repeated, and for samples in another order', () => {
    const other = randomSamples('other', 0.6)
    const first = verdict(side(other))
    expect(verdict(side(other))).toStrictEqual(first)
    const shuffled = regressionVerdict(side(good.toReversed()), side(other.toReversed()), quick)
    expect(shuffled.tests.map(({ p, q, regressed }) => [p, q, regressed])).toStrictEqual(
      first.tests.map(({ p, q, regressed }) => [p, q, regressed]),
    )
  })
})

describe('what cannot be compared', () => {
  const refused: [string, EvaluationSide, RegExp][] = [
    ['prompts', side(good.slice(4)), /prompts \(100 and 99 prompts, 99 in common/],
    ['targets', side(good, { targetSetHash: 'others' }), /targets \(/],
    ['judge', side(good, { judge: 'llm judge-14b' }), /judge \(reference and llm judge-14b\)/],
    [
      'decoding',
      side(good, { decoding: { samples: 8, temperature: 0.5, maxTokens: 200, seed: 0 } }),
      /decoding \(samples 4 and 8\); decoding \(temperature 1 and 0.5\)/,
    ],
    [
      'profile',
      side(good, { rewards: { profile: 'paper', hash: 'x', maxima: {} } }),
      /reward profile \(hardened and paper\)/,
    ],
    [
      'maxima',
      side(good, {
        rewards: { profile: 'hardened', hash: 'x', maxima: { json_schema: 2, strict_format: 0.5, judge: 1 } },
      }),
      /reward settings \(json_schema 1 and 2\)/,
    ],
  ]
  it.each(refused)('is refused with the name of the difference: %s', (_, trained, message) => {
    expect(() => verdict(trained)).toThrow(message)
  })

  it('names all differences at once', () => {
    const changed = side(good, { judge: 'other', rewards: { profile: 'paper', hash: 'x', maxima: {} } })
    expect(() => verdict(changed)).toThrow(/judge .*reward profile/)
  })

  it('is not another seed of the sampling', () => {
    const seeded = side(good, { decoding: { samples: 4, temperature: 1, maxTokens: 200, seed: 7 } })
    expect(verdict(seeded).verdict).toBe('pass')
  })

  it('is a side that mostly has no scores', () => {
    const unscored: EvaluationSample['score'] = { kind: 'unscored', component: 'judge', reason: 'no verdict' }
    const failing = good.map((sample) => (/-0[0-4]$/.test(sample.promptId) ? { ...sample, score: unscored } : sample))
    expect(() => verdict(side(failing))).toThrow(/total reward: only 75 of 100 prompts have a score on both sides/)
  })

  it('is accuracy without targets when it is asked for; else it is said', () => {
    const blind = good.map((sample) => ({ ...sample, exactlyRight: null }))
    const ask = (options: RegressionOptions) => regressionVerdict(side(blind), side(blind), { ...quick, ...options })
    expect(() => ask({ failOn: ['accuracy'] })).toThrow(/nothing to test for: accuracy/)
    expect(ask({}).notTested).toStrictEqual(['accuracy: no prompt has such a value on both sides'])
  })

  it('names tests that so few prompts cannot fail', () => {
    const few = good.filter(({ node, promptId }) => node !== 'n2' || /-0[0-3]$/.test(promptId))
    const { tooFewPrompts } = regressionVerdict(side(few), side(few), quick)
    expect(tooFewPrompts).toStrictEqual(['n2 detect_drift_operations: reward', 'n2 detect_drift_operations: accuracy'])
    expect(renderVerdict(regressionVerdict(side(few), side(few), quick))).toContain('too few prompts to fail alone')
  })

  it.each([[{ alpha: 0 }], [{ alpha: 1 }], [{ minDelta: -0.1 }], [{ failOn: [] }]] as [RegressionOptions][])(
    'are settings that make no sense: %j',
    (options) => {
      expect(() => verdict(side(good), options)).toThrow(/alpha|negative|tests nothing/)
    },
  )
})

describe('the forms of a verdict', () => {
  const found = verdict(side(breakComponent(good, 'json_schema')), { failOn: ['component'] })
  const passed = verdict(side(good))

  it('end, as text, with the verdict', () => {
    expect(renderVerdict(found).split('\n').at(-1)).toMatch(/^REGRESSION: n1 classify_drift: json_schema; n2 /)
    expect(renderVerdict(found)).toMatch(/^n1 classify_drift: json_schema .* REGRESSED$/m)
    expect(renderVerdict(passed).split('\n').at(-1)).toBe('PASS: no regression in 12 tests at alpha 0.01')
  })

  it('are, as JUnit, one case a test', () => {
    const xml = junitVerdict({ ...found, base: 'a <b> & "c"' })
    expect(XMLValidator.validate(xml)).toBe(true)
    const parsed = new XMLParser({ ignoreAttributes: false }).parse(xml) as {
      testsuites: { '@_failures': string; testsuite: { '@_name': string; testcase: { failure?: unknown }[] } }
    }
    const { testcase, '@_name': name } = parsed.testsuites.testsuite
    expect(name).toContain('a <b> & "c"')
    expect(testcase).toHaveLength(15)
    expect(testcase.filter(({ failure }) => failure !== undefined)).toHaveLength(5)
    expect(parsed.testsuites['@_failures']).toBe('5')
  })
})
