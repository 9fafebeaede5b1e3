import { readFile, rm, writeFile } from 'node:fs/promises'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileExpression, matchInTexts } from '../../../../trainer/dashboard/rollouts/expression.ts'
import type { RolloutPage } from '../../../../trainer/dashboard/view.ts'
import { dashboardApp } from '../../../support/dashboard.ts'
import { makeLargeRun } from '../../../support/large-run.ts'

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '🙂', '\n'), maxLength: 8 })
const expressions = ['a', '^b', 'a$', 'a.b', 'é+', '(a|b){2}', '(a)\\1', '🙂', '[^a]$', 'A']

const matching = async (texts: readonly string[], expression: RegExp): Promise<number[]> => {
  const bytes = texts.map((text) => Buffer.from(text))
  const found: number[] = []
  const lengths = (row: number): number => bytes[row]?.length ?? 0
  await matchInTexts(Buffer.concat(bytes), expression, lengths, texts.length, (row) => found.push(row))
  return found
}

describe('an expression over texts that lie one after the other', () => {
  it('finds the texts that it matches on their own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(letters, { maxLength: 12 }), fc.constantFrom(...expressions), async (texts, source) => {
        const expression = compileExpression(source)
        expect(await matching(texts, expression)).toEqual(
          texts.flatMap((text, i) => (expression.test(text) ? [i] : [])),
        )
      }),
    )
  })
  it('finds them in more text than is searched at a stretch', async () => {
    const texts = Array.from({ length: 900 }, (_, i) => `${'word '.repeat(100)}${i}`)
    expect(await matching(texts, /\b89\d$/)).toEqual([...Array(10).keys()].map((i) => 890 + i))
  })
})

/** Each of these would keep a backtracking matcher busy for ages. */
const slow = ['(\\w+\\s?)+\\u0000', '(.*)*\\u0000', '(?:[^]{0,999}){0,999}\\u0000', '(((\\w+)+)+)+\\u0000']

describe('rollouts by a regular expression, and by what went wrong', () => {
  let directory = ''
  let app: ReturnType<typeof dashboardApp>
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'drift-grpo-expression-'))
    const run = await makeLargeRun(directory, 'mine', {
      ...{ steps: 4, groupsPerStep: 5, samples: 4, tokens: 10, promptTokens: 10 },
    })
    const path = join(run, 'rollouts', 'step-000002.jsonl')
    const [first = '', ...rest] = (await readFile(path, 'utf8')).split('\n')
    const group = JSON.parse(first) as { scores: unknown[] }
    group.scores[0] = { kind: 'unscored', component: 'judge', reason: 'timed out' }
    group.scores[3] = { kind: 'unscored', component: 'json_sanity', reason: 'broken' }
    await writeFile(path, [JSON.stringify(group), ...rest].join('\n'))
    app = dashboardApp(directory)
  })
  afterAll(() => rm(directory, { recursive: true }))
  const ask = async (query: Record<string, string>) =>
    app.request(`http://localhost/api/runs/mine/rollouts?${new URLSearchParams(query).toString()}`)
  const page = async (query: Record<string, string>): Promise<RolloutPage> =>
    (await (await ask(query)).json()) as RolloutPage

  it('is told apart from the same words', async () => {
    await expect.poll(async () => (await page({})).matches).toBe(80)
    const words = await page({ text: 'y|n' })
    expect(words.matches).toBe(0)
    await expect.poll(async () => (await page({ text: '"is_aligned": "(y|n)"', regex: 'on' })).matches).toBe(80)
    const asked = { text: '"is_aligned": "Y".*\\b7\\d"}$', regex: 'on' }
    const { rows, matches } = await page(asked)
    expect(matches).toBeGreaterThan(0)
    expect(matches).toBeLessThan(10)
    expect(rows).toHaveLength(matches)
  })
  it('is refused with its reason where it is none', async () => {
    const response = await ask({ text: 'a(b', regex: 'on' })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('Unterminated group')
    expect((await ask({ text: 'a(b' })).status).toBe(200)
  })
  it.each(slow)('%s is given up with words, and others are answered meanwhile', async (text) => {
    const asked = page({ text, regex: 'on' })
    expect((await page({ node: 'n1' })).matches).toBe(16)
    await asked
    await expect.poll(async () => (await page({ text, regex: 'on' })).searchProblem).toContain('takes too long')
    expect((await page({ text, regex: 'on' })).isSearching).toBe(false)
  })
  it('shows what has no score, and why', async () => {
    const places = async (error: string) =>
      (await page({ error })).rows.map(({ step, sample, failedBy, total }) => ({ step, sample, failedBy, total }))
    const judge = { step: 2, sample: 0, failedBy: 'judge', total: null }
    const sanity = { step: 2, sample: 3, failedBy: 'json_sanity', total: null }
    expect(await places('any')).toEqual([judge, sanity])
    expect(await places('judge')).toEqual([judge])
    expect(await places('json_sanity')).toEqual([sanity])
    expect(await places('json_valid')).toEqual([])
  })
})
