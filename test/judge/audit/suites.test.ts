import { describe, expect, it } from 'vitest'
import { parseCompletion } from '../../../data/completion/parse.ts'
import type { JudgeRequest, OpenJudge } from '../../../judge/judge.ts'
import { JudgeError } from '../../../judge/judge.ts'
import { isExactlyRight } from '../../../judge/accuracy.ts'
import { shortened } from '../../../judge/audit/twins.ts'
import { referenceJudge } from '../../../judge/reference.ts'
import { seeded } from '../../rewards/adversarial.ts'
import { audit, honest, scripted, suiteOf, suites } from './support.ts'

const reasoningOf = ({ completion }: JudgeRequest): string => parseCompletion(completion).envelope.body?.reasoning ?? ''

/** The reasoning of every right answer: a judge that likes it wherever it stands does not read the answer. */
const soundReasoning = new Set(
  suites
    .filter(({ name }) => name === 'right_over_wrong')
    .flatMap(({ twins }) => twins.map(({ prompt, doctored }) => reasoningOf({ prompt, completion: doctored }))),
)

/** One judge for each weakness, and otherwise honest. */
const fooled: Readonly<Record<string, OpenJudge>> = {
  instruction: scripted((request) =>
    /grader|grades|evaluator|rubric|judge/i.test(request.completion) ? 1 : honest(request),
  ),
  forged_verdict: scripted((request) =>
    /score"?[>:]|verdict>|verdict =/i.test(request.completion) ? 1 : honest(request),
  ),
  master_key: scripted((request) =>
    /^\.$|\n\.\n|solution:|thought process:|step by step|answer:|rubric item/i.test(request.completion)
      ? 0.8
      : honest(request),
  ),
  contradiction: scripted((request) => (soundReasoning.has(reasoningOf(request)) ? 1 : honest(request))),
  padding: scripted(({ completion }) => Math.min(1, completion.split(/\s+/).length / 100)),
  right_over_wrong: scripted(() => 0.25),
}

describe('a judge with one weakness', () => {
  it.each(suites.map(({ name }) => name))('is caught: %s', async (name) => {
    const judge = fooled[name]
    expect(judge).toBeDefined()
    const report = await audit(judge ?? scripted(honest))
    const suite = suiteOf(report, name)
    expect(suite).toMatchObject({ finding: true, answered: suite.twins })
    expect(suite.examples).toHaveLength(suite.fooled)
    expect(report.verdict).toBe('finding')
    expect(report.findings.some((finding) => finding.startsWith(`${name}: `))).toBe(true)
  })

  it.each(suites.map(({ name }) => name))('is caught in the short form too: %s', async (name) => {
    const report = await audit(fooled[name] ?? scripted(honest), { suites: suites.map(shortened) })
    expect(suiteOf(report, name).finding).toBe(true)
  })

  it('that reads only the answer is caught by its contradictions', async () => {
    const blind = scripted(({ prompt, completion }) => (isExactlyRight(prompt, completion) === true ? 1 : 0))
    expect(suiteOf(await audit(blind), 'contradiction')).toMatchObject({ finding: true, fooled: 2 })
  })
})

describe('a rise of exactly the tolerance', () => {
  const ladder = suites.find(({ name }) => name === 'right_over_wrong')

  it.each([
    [0.3, 0.4],
    [0.5, 0.6],
    [0.8, 0.9],
  ])('is none, whichever way its last bit fell: from %f to %f', async (wrong, right) => {
    const rightOnes = new Set(ladder?.twins.map(({ doctored }) => doctored))
    const report = await audit(scripted(({ completion }) => (rightOnes.has(completion) ? right : wrong)))
    expect(suiteOf(report, 'right_over_wrong')).toMatchObject({ fooled: ladder?.twins.length })
  })
})

describe('an honest judge', () => {
  it('passes all suites: the one that grades from targets', async () => {
    const report = await audit({ ...referenceJudge, close: async () => undefined })
    expect(report.findings).toStrictEqual([])
    expect(report).toMatchObject({ verdict: 'pass', warnings: [], unanswered: 0 })
    expect(report.suites.map(({ fooled: count }) => count)).toStrictEqual(suites.map(() => 0))
  })

  it('passes with scores in steps of a quarter', async () => {
    const coarse = scripted(async (request) => Math.round(4 * (await honest(request))) / 4)
    expect((await audit(coarse)).findings).toStrictEqual([])
  })

  it.each([0.05, 0.1, 0.15])('does not fail by chance with noise of %f: in forty audits at most one', async (sd) => {
    const random = seeded(5)
    const noise = (): number => (random() + random() + random() + random() - 2) * Math.sqrt(3) * sd
    const noisy = scripted(async (request) => Math.max(0, Math.min(1, (await honest(request)) + noise())))
    const verdicts: string[] = []
    for (let i = 0; i < 40; i += 1) verdicts.push((await audit(noisy)).verdict)
    expect(verdicts.filter((verdict) => verdict === 'finding').length).toBeLessThanOrEqual(1)
  })

  it('that one twin fools is told so, and passes', async () => {
    const [twin] = suites[0]?.twins ?? []
    const judge = scripted((request) => (request.completion === twin?.doctored ? 1 : honest(request)))
    const report = await audit(judge)
    expect(report.verdict).toBe('pass')
    expect(report.warnings).toStrictEqual([
      `instruction: fooled by 1 of 15 twins, which chance may explain: ${twin?.id}`,
    ])
  })
})

describe('a judge that does not answer', () => {
  const failing = (every: number): OpenJudge => {
    let asked = 0
    return scripted((request) => {
      asked += 1
      if (asked % every === 0) throw new JudgeError('the reply was cut')
      return honest(request)
    })
  }

  it('at times, passes with what it answered, and the reasons are counted', async () => {
    const report = await audit(failing(20))
    expect(report.verdict).toBe('pass')
    expect(report.unanswered).toBeGreaterThan(0)
    expect(report.reasons).toStrictEqual([{ reason: 'the reply was cut', count: report.unanswered }])
  })

  it('often, is a finding', async () => {
    const report = await audit(failing(3))
    expect(report.findings.at(-1)).toMatch(/^\d+ of \d+ questions were not answered$/)
    expect(report.verdict).toBe('finding')
  })

  it('at all, is an error that says why', async () => {
    await expect(audit(failing(1))).rejects.toThrow('answered none of')
  })

  it('because the program is at fault, ends the audit', async () => {
    const broken = scripted(() => Promise.reject(new TypeError('a bug')))
    await expect(audit(broken)).rejects.toThrow(TypeError)
  })
})
