import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { runProgram } from '../../support/run-program.ts'
import { removeTemporary, temporaryDirectory } from '../../support/temporary.ts'

afterAll(removeTemporary)

describe('smollm2-135m.yaml', () => {
  it('shows its plan', async () => {
    const cwd = temporaryDirectory()
    const { code, stdout, stderr } = await runProgram(
      'scripts/train.ts',
      // In place of the model, which a checkout does not have.
      ['--config', 'smollm2-135m.yaml', '--set', 'model.path=data/tiny-base', '--dry-run'],
      { cwd },
    )
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/steps +10 × 3 prompts × 8 completions/)
    expect(existsSync(join(cwd, 'runs'))).toBe(false)
  })

  it('is described by commands whose programs exist', () => {
    const page = readFileSync(join(packageRoot(), 'docs', 'smollm2.md'), 'utf8')
    const programs = [...page.matchAll(/npx tsx (\S+)/g)].map(([, path = '']) => path)
    expect(programs).toContain('scripts/smollm2/fetch.ts')
    for (const path of programs) expect(existsSync(join(packageRoot(), path))).toBe(true)
  })
})

const completion = (text: string, xml: number): [object, object] => [
  { index: 0, text, tokenIds: [1], logprobs: [-1], finishReason: 'stop' },
  { kind: 'scored', total: xml, components: { xml_count: { raw: 1, weight: 0.5, weighted: xml, detail: '' } } },
]

describe('the curve', () => {
  it('is a picture with the means of each step in words, and a table', async () => {
    const run = join(temporaryDirectory(), 'mine')
    mkdirSync(join(run, 'rollouts'), { recursive: true })
    for (const [step, rewards] of [
      [0, [0, 0.25]],
      [1, [0.5, 0.5]],
    ] as const) {
      const made = rewards.map((reward) => completion('text', reward))
      const group = {
        ...{ promptId: '0123456789abcdef', node: 'n1', step, policyVersion: step, policyName: 'base', seed: 1 },
        ...{ promptTokenIds: [1], completions: made.map(([one], index) => ({ ...one, index })) },
      }
      const advantages = { promptId: group.promptId, node: 'n1', mean: 0, std: 0, advantages: [0, 0], skipped: null }
      const record = { attempt: 1, group, verdicts: [null, null], scores: made.map(([, score]) => score), advantages }
      writeFileSync(join(run, 'rollouts', `step-00000${step}.jsonl`), `${JSON.stringify(record)}\n`)
    }
    const target = join(run, 'curve.svg')
    const { code, stdout, stderr } = await runProgram('scripts/smollm2/curve.ts', [run, target])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('| 0 | 0.13 | 25 % |\n| 1 | 0.50 | 100 % |')
    expect(readFileSync(target, 'utf8')).toContain(
      '<desc id="curve-desc">Mean R by step. step 0: 0.13, step 1: 0.50.</desc>',
    )
  })

  it('asks for what is missing', async () => {
    expect(await runProgram('scripts/smollm2/curve.ts', [])).toMatchObject({ code: 2, stdout: '' })
  })
})
