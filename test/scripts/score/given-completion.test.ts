import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import { readCompletions, type GivenCompletion } from '../../../scripts/score/given-completion.ts'

const folder = mkdtempSync(join(tmpdir(), 'drift-grpo-given-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = async (text: string): Promise<GivenCompletion[]> => {
  const file = join(folder, 'c.jsonl')
  writeFileSync(file, text)
  const all: GivenCompletion[] = []
  for await (const one of readCompletions(file, 'c.jsonl')) all.push(one)
  return all
}

const verdict = { score: 1, reason: '', model: 'm', cached: false, latencyMs: 1 }
const unscored = { kind: 'unscored', component: 'judge', reason: 'down' }

describe('readCompletions', () => {
  it('reads the plain form, a sample of an evaluation and a group of rollouts', async () => {
    const lines = [
      { promptId: 'a', completion: 'one' },
      { promptId: 'b', completion: { text: 'two', tokenIds: [1] }, score: unscored, verdict, node: 'n1' },
      {
        group: { promptId: 'c', completions: [{ text: 'three' }, { text: 'four' }] },
        verdicts: [verdict, null],
        scores: [unscored, unscored],
      },
    ]
    const given = await read(`${lines.map((line) => JSON.stringify(line)).join('\n\n')}\n`)
    expect(given.map(({ where, promptId, index, text }) => [where, promptId, index, text])).toStrictEqual([
      ['c.jsonl:1', 'a', 0, 'one'],
      ['c.jsonl:3', 'b', 0, 'two'],
      ['c.jsonl:5', 'c', 0, 'three'],
      ['c.jsonl:5', 'c', 1, 'four'],
    ])
    expect(given.map((one) => one.verdict?.score ?? null)).toStrictEqual([null, 1, 1, null])
    expect(given.map((one) => one.score?.kind ?? null)).toStrictEqual([null, 'unscored', 'unscored', 'unscored'])
  })

  it.each([
    ['{"promptId": "a", "compl', 'c.jsonl:1: not a whole JSON object'],
    ['{"promptId": "a", "completion": "x"}\n[]\n', 'c.jsonl:2: a line is an object'],
    ['{"promptId": 5, "completion": "x"}', 'c.jsonl:1: promptId:'],
    ['{"promptId": "a"}', 'c.jsonl:1: completion:'],
    ['{"promptId": "a", "completion": "x", "verdikt": 1}', 'verdikt'],
    ['{"group": {"promptId": "a", "completions": [{"text": ""}]}, "verdicts": [], "scores": []}', 'differ in number'],
  ])('refuses %s', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  it('takes any line for completions or refuses it with its place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        const line = text.replaceAll('\n', ' ')
        const refusal = await read(line).then(
          () => null,
          (error: unknown) => error,
        )
        const isClear = refusal instanceof PipelineError && refusal.message.startsWith('c.jsonl:1: ')
        expect(refusal === null || isClear).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
