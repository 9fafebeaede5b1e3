import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { mayLack } from '../support/require.ts'
import { runProgram, type Ended } from '../support/run-program.ts'

// Each training loads a worker, and that takes minutes on a machine that is busy with other things.
vi.setConfig({ testTimeout: 900_000 })

const root = packageRoot()
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const { start } = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } })
  .scripts

/** What the README tells people to type, in its order: the programs of its shell blocks, without their comments. */
const typed = [...readme.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block.split('\n').flatMap((line) => /^npx (.*?)(?:\s+#.*)?$/.exec(line)?.[1] ?? []),
)

/** `npx train …` and `npx drift-grpo …` are one program. */
const argsOf = (line: string): string[] => {
  const [program = '', ...args] = line.split(/\s+/)
  return program === 'drift-grpo' ? args : [program, ...args]
}

const fewer = [
  ...['run.steps=2', 'sampling.promptsPerStep=2', 'sampling.groupSize=2', 'model.maxCompletionTokens=24'],
  ...['evaluation.prompts=5', 'evaluation.samples=1'],
].flatMap((set) => ['--set', set])

/** The same commands, small enough for a test. */
const scaled = (args: readonly string[]): string[] => {
  const own = args.map((arg) =>
    arg === 'path/to/agentdojo' ? join(root, 'test', 'fixtures', 'recordings') : arg === '1000' ? '10' : arg,
  )
  if (own[0] === 'build-pool') return [...own, '--heldout', '5']
  return own[0] === 'train' ? [...own, ...fewer] : own
}

describe.skipIf(mayLack([join(root, '.venv', 'bin', 'python')]))('the commands of the README, scaled down', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'drift-grpo-readme-'))
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))
  const run = (...args: string[]): Promise<Ended> => runProgram('scripts/cli.ts', args, { cwd })
  const runs = (): string[] => readdirSync(join(cwd, 'runs')).toSorted()

  it('are the ones that this test knows how to scale', () => {
    const words = typed.map((line) => argsOf(line)[0])
    expect(new Set(words)).toEqual(new Set(['build-pool', 'train']))
    expect(typed.filter((line) => line.includes('--recordings'))).toHaveLength(1)
    expect(typed.filter((line) => line.includes('--world'))).toHaveLength(1)
  })

  it('build pools and train on them, as they are typed', async () => {
    for (const line of typed) {
      const { code, stderr } = await run(...scaled(argsOf(line)))
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' })
    }
    expect(existsSync(join(cwd, 'my-pool', 'pool.jsonl'))).toBe(true)
    expect(existsSync(join(cwd, 'recorded-pool', 'report.json'))).toBe(true)
    expect(runs()).toHaveLength(typed.filter((line) => line.startsWith('train ') && !line.includes('--dry-run')).length)
  })

  it('npm start: the main job, from its config to the table of the evaluation', async () => {
    const [, job = ''] = start.split(/train\.js /)
    const pool = ['--set', 'pool.train=10', '--set', 'pool.heldout=5']
    const { code, stdout, stderr } = await run('train', ...job.split(' '), ...fewer, ...pool, '--set', 'run.id=started')
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('n5 aggregate_and_decision')
  })

  it('continue, evaluate and list what was trained', async () => {
    const resumed = await run('train', '--resume', 'started', '--set', 'run.steps=3', '--json')
    expect(JSON.parse(resumed.stdout)).toMatchObject({ kind: 'finished', step: 3 })
    const evaluated = await run('eval', '--run', 'started', '--samples', '1', '--json')
    expect(JSON.parse(evaluated.stdout)).toMatchObject({ name: 'heldout', decoding: { samples: 1 } })
    const listed = await run('runs', '--json')
    expect(JSON.parse(listed.stdout)).toHaveLength(runs().length)
    const reported = await run('report', '--run', 'started', '--out', 'my-report')
    expect(reported.code).toBe(0)
    expect(existsSync(join(cwd, 'my-report', 'report.html'))).toBe(true)
    const { code, stdout } = await run('regress', '--trained', 'started')
    expect([0, 10]).toContain(code)
    expect(stdout.trim().split('\n').at(-1)).toMatch(code === 0 ? /^PASS: / : /^REGRESSION: /)
    expect((await run('export', '--run', 'started', '--to', 'csv', '--out', 'tables')).code).toBe(0)
    expect(readdirSync(join(cwd, 'tables')).toSorted()).toStrictEqual(['metrics.csv', 'rollouts.csv'])
    expect(await run('train', '--resume')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('that could be continued; passed over: started (finished') as string,
    })
  })

  it('copy a config that can be trained from, and print the schema', async () => {
    expect(await run('init', 'mine.yaml')).toMatchObject({ code: 0 })
    expect(await run('train', '--config', 'mine.yaml', '--dry-run')).toMatchObject({ code: 0 })
    expect(JSON.parse((await run('schema')).stdout)).toMatchObject({ type: 'object' })
  })
})
