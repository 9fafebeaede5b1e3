import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mean, sampleDeviation } from '../../../../data/statistics.ts'
import type { RolloutRecord } from '../../../../data/records/run.ts'
import { correlation } from '../../../../trainer/dashboard/rollouts/correlation.ts'
import { JudgeTally, periodOf, type JudgedRow } from '../../../../trainer/dashboard/rollouts/judge-tally.ts'
import type { JudgeReply } from '../../../../trainer/dashboard/view-judge.ts'
import { dashboardApp } from '../../../support/dashboard.ts'
import { makeLargeRun } from '../../../support/large-run.ts'

const rows = fc.array(
  fc.record({
    step: fc.nat(3),
    judge: fc.constantFrom(0, 0.25, 0.4, 0.995, 1, Number.NaN),
    rest: fc.double({ min: -1, max: 1, noNaN: true }),
    tokens: fc.nat(90),
    isFailed: fc.boolean(),
    isFirst: fc.boolean(),
    isDead: fc.boolean(),
  }),
  { maxLength: 30 },
)

describe('what is counted of a judge’s scores', () => {
  it('is what the scores of all nodes together say', () => {
    fc.assert(
      fc.property(rows, rows, (one: JudgedRow[], other: JudgedRow[]) => {
        const tallies = [one, other].map((own) => {
          const tally = new JudgeTally(true)
          for (const row of own) tally.add(row)
          return tally
        })
        const all = [...one, ...other]
        const scores = all.map(({ judge }) => judge).filter((score) => !Number.isNaN(score))
        const period = periodOf(tallies)
        fc.pre(scores.length > 0)
        expect(period?.n).toBe(scores.length)
        expect(period?.mean).toBeCloseTo(mean(scores), 3)
        expect(period?.sd).toBeCloseTo(scores.length < 2 ? 0 : sampleDeviation(scores), 3)
        expect(period?.atMaximum).toBeCloseTo(scores.filter((score) => score > 0.99).length / scores.length, 3)
        // 0.995 and 1 are the same hundredth.
        expect(period?.distinct).toBe(new Set(scores.map((score) => Math.round(100 * score))).size)
        expect(period?.tokens).toBeCloseTo(mean(all.map(({ tokens }) => tokens)), 3)
      }),
    )
  })
  it('puts a tenth into the band that begins with it, although a tenth is no binary fraction', () => {
    for (let tenth = 0; tenth < 10; tenth++) {
      const tally = new JudgeTally(false)
      tally.add({
        ...{ step: 0, judge: Math.fround(tenth / 10), rest: 0, tokens: 1 },
        ...{ isFailed: false, isFirst: true, isDead: false },
      })
      expect(tally.counts.indexOf(1)).toBe(tenth)
    }
  })
  it('measures the other components by all completions, also those that the judge was not asked about', () => {
    const tally = new JudgeTally(true)
    for (const [judge, rest] of [
      [1, 1],
      [Number.NaN, 0],
    ] as const)
      tally.add({ ...{ step: 0, judge, rest, tokens: 1, isFailed: false, isFirst: true, isDead: false } })
    expect(periodOf([tally])).toMatchObject({ n: 1, rest: 0.5 })
  })
  it('has an entropy of one bit where two scores are equally frequent, and of none where there is one', () => {
    const rowOf = (judge: number): JudgedRow => ({
      ...{ step: 0, judge, rest: 0, tokens: 1, isFailed: false, isFirst: true, isDead: false },
    })
    const entropyOf = (scores: readonly number[]): number | undefined => {
      const tally = new JudgeTally(true)
      for (const score of scores) tally.add(rowOf(score))
      return periodOf([tally])?.entropy
    }
    expect(entropyOf([0, 1, 1, 0])).toBe(1)
    expect(entropyOf([1, 1, 1])).toBe(0)
  })
  it('does not take nodes that lie apart for scores that go together', () => {
    const tallyOf = (scores: readonly (readonly [judge: number, rest: number])[]): JudgeTally => {
      const tally = new JudgeTally(false)
      for (const [judge, rest] of scores)
        tally.add({ ...{ step: 0, judge, rest, tokens: 1, isFailed: false, isFirst: true, isDead: false } })
      return tally
    }
    const low = [[0.1, 0.2] as const, [0.2, 0.1] as const, [0.1, 0.1] as const, [0.2, 0.2] as const]
    const high = low.map(([judge, rest]) => [judge + 0.7, rest + 0.7] as const)
    expect(periodOf([tallyOf(low), tallyOf(high)])?.withRest).toBeCloseTo(0, 9)
    const [x, y] = [[...low, ...high].map(([judge]) => judge), [...low, ...high].map(([, rest]) => rest)]
    expect(correlation(x, y)).toBeGreaterThan(0.9)
  })
})

const shape = { steps: 44, groupsPerStep: 5, samples: 4, tokens: 10, promptTokens: 10 }

/** From step 20 on the judge likes everything of n2, and the other components like half of it. */
const game = (record: RolloutRecord): RolloutRecord => ({
  ...record,
  verdicts: record.verdicts.map((verdict) => (verdict === null ? null : { ...verdict, score: 1 })),
  scores: record.scores.map((score, i) => {
    if (score.kind === 'unscored') return score
    const components = Object.fromEntries(
      Object.entries(score.components).map(([name, own]) => {
        const raw = name === 'judge' ? 1 : 0.05 * (i + 1)
        return [name, { ...own, raw, weighted: raw * own.weight }]
      }),
    )
    return { ...score, components, total: Object.values(components).reduce((sum, { weighted }) => sum + weighted, 0) }
  }),
})

describe('hints about a judge', () => {
  let directory = ''
  let reply: JudgeReply
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'drift-grpo-judge-'))
    const run = await makeLargeRun(directory, 'mine', shape)
    for (const name of (await readdir(join(run, 'rollouts'))).filter((one) => one >= 'step-000020')) {
      const path = join(run, 'rollouts', name)
      const groups = (await readFile(path, 'utf8')).trim().split('\n')
      const gamed = groups.map((line) => {
        const record = JSON.parse(line) as RolloutRecord
        return JSON.stringify(record.group.node === 'n2' ? game(record) : record)
      })
      await writeFile(path, `${gamed.join('\n')}\n`)
    }
    const others = { xml_count: 0.5, strict_format: 0.5, soft_format: 0.25, reasoning_length: 0.5, total_length: 0.25 }
    const maxima = { ...others, json_valid: 1, json_schema: 1, json_sanity: 0.6, judge: 1 }
    await writeFile(
      join(run, 'config.resolved.json'),
      JSON.stringify({ values: { rewards: { maxima } }, provenance: {} }),
    )
    const app = dashboardApp(directory)
    const ask = async (): Promise<JudgeReply> =>
      (await (await app.request('http://localhost/api/runs/mine/judge')).json()) as JudgeReply
    // Completions are read in the background.
    do reply = await ask()
    while (reply.progress.filesDone < reply.progress.files)
  })
  afterAll(() => rm(directory, { recursive: true }))
  const nodesOf = (title: string): string[] | undefined =>
    reply.hints.find((hint) => hint.title === title)?.fired.map(({ node }) => node)

  it('name the node whose judge is gamed, each with its figures', () => {
    expect(nodesOf('The judge rises alone')).toEqual(['n2'])
    expect(nodesOf('Ceiling')).toContain('n2')
    expect(nodesOf('Variance collapse')).toEqual(['n2'])
    expect(reply.hints.flatMap(({ fired }) => fired).every(({ said }) => /\d/.test(said))).toBe(true)
  })
  it('come with the scores over the steps, of all nodes and of each', () => {
    expect(reply.scopes.map(({ node }) => node)).toEqual([null, 'n1', 'n2', 'n3', 'n4', 'n5'])
    const windows = reply.scopes[2]?.windows ?? []
    expect(reply.steps.at(-1)).toBe(43)
    expect(windows.at(-1)?.atMaximum).toBe(1)
    expect(windows[0]?.atMaximum).toBeLessThan(0.9)
    for (const { windows: own } of reply.scopes)
      for (const { n, counts } of own) expect(counts.reduce((sum, count) => sum + count, 0)).toBe(n)
    expect((reply.scopes[0]?.windows ?? []).reduce((sum, { n }) => sum + n, 0)).toBe(880)
  })
  it('come with the completions that only the judge likes', () => {
    const gaps = reply.suspects.filter(({ row }) => row.node === 'n2').map(({ judge, rest }) => judge - rest)
    expect(gaps.length).toBeGreaterThan(0)
    expect(gaps).toEqual(gaps.toSorted((a, b) => b - a))
    expect(gaps[0]).toBeGreaterThan(0.9)
  })
})
