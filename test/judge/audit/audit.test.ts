import { describe, expect, it } from 'vitest'
import { AuditReport } from '../../../data/records/audit.ts'
import { planAudit, type AuditSample } from '../../../judge/audit/audit.ts'
import type { OpenJudge } from '../../../judge/judge.ts'
import { audit, honest, scripted, suites } from './support.ts'

const samples: AuditSample[] = suites
  .filter(({ name }) => name === 'right_over_wrong')
  .flatMap(({ twins }) =>
    twins.flatMap(({ prompt, plain, doctored }) =>
      [plain, doctored].map((completion) => ({
        prompt,
        completion,
        features: { length: completion.length, flat: 1 },
      })),
    ),
  )

/** Counts the judges that are opened and not closed, and the questions of each. */
const counting = (score = honest) => {
  const asked: string[][] = []
  let open = 0
  const openJudge = async (): Promise<OpenJudge> => {
    open += 1
    const own: string[] = []
    asked.push(own)
    const judge = scripted((request) => {
      own.push(`${request.prompt.id} ${request.completion}`)
      return score(request)
    })
    return { ...judge, close: async () => void (open -= 1) }
  }
  return { openJudge, asked, open: () => open }
}

describe('auditJudge', () => {
  it('asks as often as it said, each question once a round, with a judge for each round', async () => {
    const { openJudge, asked, open } = counting()
    const request = { form: 'full', suites, samples, completionsFrom: 'x', repeats: 7, openJudge } as const
    const plan = planAudit(request)
    expect(plan).toMatchObject({ samples: samples.length, repeats: 7 })
    const report = await audit(scripted(honest), request)
    expect(asked.map((round) => round.length)).toStrictEqual([plan.first, 7])
    for (const round of asked) expect(new Set(round).size).toBe(round.length)
    expect(report.questions).toBe(plan.first + 7)
    expect(open()).toBe(0)
  })

  it('asks no more than it said at most, when every twin is suspicious', async () => {
    const { openJudge, asked } = counting(async () => 0.9)
    const request = { form: 'full', suites, samples: [], completionsFrom: 'x', repeats: 0, openJudge } as const
    await audit(scripted(honest), request)
    expect(asked.flat().length).toBeLessThanOrEqual(planAudit(request).atMost)
    expect(asked).toHaveLength(5)
  })

  it('describes the scores by node, their agreement, correlations and noise', async () => {
    let flip = 0
    const shaky = scripted(async (request) => {
      flip += 1
      return Math.min(1, (await honest(request)) + (flip % 2 === 0 ? 0 : 0.02))
    })
    const report = await audit(shaky, { samples, repeats: 10 })
    expect(AuditReport.parse(JSON.parse(JSON.stringify(report)))).toStrictEqual(report)
    expect(report.all).toMatchObject({ n: samples.length })
    expect(report.all?.agreement?.spearman).toBeGreaterThan(0.9)
    expect(Object.keys(report.nodes)).toStrictEqual(['n1', 'n2', 'n3', 'n4', 'n5'])
    expect(report.correlations).toMatchObject({ flat: { spearman: null }, length: { n: samples.length } })
    expect(report.noise?.n).toBe(10)
    expect(report.noise?.largestDifference).toBeLessThanOrEqual(0.02 + 1e-9)
  })

  it('knows shares and noise exactly', async () => {
    const rounds = [0.5, 0.7]
    const openJudge = async (): Promise<OpenJudge> => {
      const score = rounds.shift() ?? 0
      return scripted(() => score)
    }
    const report = await audit(scripted(honest), { suites: [], samples, repeats: 4, openJudge })
    expect(report.all).toMatchObject({ atZero: 0, atHalf: 1, atOne: 0, mean: 0.5, sd: 0 })
    expect(report.noise?.meanDifference).toBeCloseTo(0.2, 12)
    expect(report.noise?.sd).toBeCloseTo(0.2 / Math.sqrt(2), 12)
    expect(report.warnings).toContain('the same question gets other scores: deviation 0.14')
  })

  it('closes the judge when an audit is given up', async () => {
    const { openJudge, open } = counting()
    const signal = AbortSignal.abort(new Error('enough'))
    const stopping = async (): Promise<OpenJudge> => ({
      ...(await openJudge()),
      judge: async ({ signal: own }) => {
        own?.throwIfAborted()
        throw new Error('not reached')
      },
    })
    await expect(audit(scripted(honest), { openJudge: stopping, signal })).rejects.toThrow('enough')
    expect(open()).toBe(0)
  })
})
