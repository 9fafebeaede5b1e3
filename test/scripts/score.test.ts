import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { docCommands } from '../support/doc-commands.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { JudgeServer } from '../support/judge-server.ts'
import type { Ended } from '../support/run-program.ts'

const recorded = join(packageRoot(), 'test', 'fixtures', 'recorded-run')

let cwd = ''
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'drift-grpo-score-'))
  cpSync(recorded, join(cwd, 'runs', 'mine'), { recursive: true })
  const [line = ''] = readFileSync(join(recorded, 'pool.jsonl'), 'utf8').split('\n')
  const { id } = JSON.parse(line) as { id: string }
  write('mine.jsonl', `${JSON.stringify({ promptId: id, completion: 'no envelope' })}\n`)
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const write = (name: string, text: string): string => {
  const file = join(cwd, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  return file
}

const cli = (...args: string[]): Promise<Ended> => runInProcess(args, cwd)

/** A copy of the recorded run, with its files changed. */
const changedRun = (name: string, changes: Readonly<Record<string, (text: string) => string>>): string => {
  const run = join(cwd, 'runs', name)
  cpSync(recorded, run, { recursive: true })
  for (const [file, change] of Object.entries(changes))
    writeFileSync(join(run, file), change(readFileSync(join(run, file), 'utf8')))
  return name
}

const first = 'rollouts/step-000000.jsonl'

describe('the reward of recorded completions', () => {
  // The regression test of the reward itself. After a change that is wanted: npx tsx test/fixtures/record-run.ts
  it('is what it was', async () => {
    const { code, stdout } = await cli('score', '--against', recorded)
    expect(stdout).not.toContain('→')
    expect(stdout).toContain('verdict: unchanged; 0 of 80 completions have another reward')
    expect(code).toBe(0)
  })
})

describe('score --against', () => {
  it('shows what changed, by component, and ends with the code of a finding', async () => {
    const { code, stdout } = await cli('score', '--against', 'mine', '--set', 'rewards.caps.json_sanity.whyWords=3')
    expect(stdout).toMatch(
      /^rollouts\/step-00000\d\.jsonl:\d+ completion \d of prompt [0-9a-f]{16}: R 5\.6000 → 5\.4000; json_sanity 0\.6000 → 0\.4000$/m,
    )
    expect(stdout).toMatch(/verdict: changed; \d+ of 80 completions have another reward \(exit code 10\)\n$/)
    expect(code).toBe(10)
  })

  it('writes every change and every breakdown', async () => {
    const run = changedRun('other', { [first]: (text) => text.replace('"total":0,', '"total":1,') })
    const { code, stdout } = await cli('score', '--against', run, '--json', '--out', 'out')
    expect(code).toBe(10)
    const summary = JSON.parse(stdout) as Record<string, unknown>
    expect(summary).toMatchObject({ verdict: 'changed', changed: 1, all: { completions: 80, unscored: 0 } })
    expect(JSON.parse(readFileSync(join(cwd, 'out', 'summary.json'), 'utf8'))).toStrictEqual(summary)
    const lines = (name: string): Record<string, unknown>[] =>
      readFileSync(join(cwd, 'out', name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines('changes.jsonl')).toMatchObject([{ before: 1, after: 0, components: [] }])
    expect(lines('scores.jsonl')).toHaveLength(80)
    expect(readdirSync(join(cwd, 'out')).toSorted()).toStrictEqual(['changes.jsonl', 'scores.jsonl', 'summary.json'])
  })

  it('takes the verdicts of a language model from the record, and asks nobody', async () => {
    // Nothing listens there: a judge that were asked could only fail.
    const judge = { kind: 'llm', baseUrl: 'http://127.0.0.1:9/v1', model: 'a-model' }
    const run = changedRun('judged', {
      'config.resolved.json': (text) => text.replace(/"judge": \{[^}]*\}/, `"judge": ${JSON.stringify(judge)}`),
    })
    const { code, stdout } = await cli('score', '--against', run, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'unchanged',
      judge: 'verdicts as recorded (a-model)',
      all: { unscored: 0 },
    })
    expect(code).toBe(0)
  })
})

describe('score --completions', () => {
  it('scores lines of people and of runs alike', async () => {
    const args = ['score', '--pool', 'runs/mine/pool.jsonl', '--config', 'tiny.yaml', '--json']
    const plain = await cli(...args, '--completions', 'mine.jsonl')
    expect({ code: plain.code, ...(JSON.parse(plain.stdout) as object) }).toMatchObject({
      code: 0,
      verdict: null,
      profile: 'hardened',
      all: { completions: 1, reward: 0 },
    })
    const rollouts = await cli(...args, '--completions', `runs/mine/${first}`)
    expect(JSON.parse(rollouts.stdout)).toMatchObject({ all: { completions: 40 } })
  })
})

describe('a judge that is asked', () => {
  it('is said to be waited for while it is down', async () => {
    const judge = await JudgeServer.start({ behave: ({ before }) => (before === 0 ? { status: 503 } : 'verdict') })
    onTestFinished(() => judge.close())
    const settings = {
      ...{ kind: 'llm', baseUrl: judge.url, model: 'judge', cache: { dir: null }, retries: 0 },
      breaker: { failures: 1, pauseSeconds: 0.02 },
    }
    const args = ['--pool', 'runs/mine/pool.jsonl', '--completions', 'mine.jsonl', '--config', 'tiny.yaml']
    const sets = ['--set', 'rewards.profile=paper', '--set', `judge=${JSON.stringify(settings)}`]
    const { code, stderr } = await cli('score', ...args, ...sets)
    expect(stderr).toMatch(/waiting for the judge: HTTP 503 injected\n(.*\n)*the judge is back after 0 s/)
    expect(code).toBe(0)
  })
})

describe('bad input', () => {
  const given = (text: string): string[] => {
    const name = `bad-${text.length}.jsonl`
    write(name, text)
    return ['--pool', 'runs/mine/pool.jsonl', '--completions', name]
  }

  it.each([
    ['a torn line', 3, () => given('{"promptId": "0123", "comp'), 'bad-26.jsonl:1: not a whole JSON object'],
    [
      'a prompt that the pool does not have',
      3,
      () => given('\n{"promptId": "0123", "completion": ""}\n'),
      'bad-40.jsonl:2: promptId:',
    ],
    [
      'a file that is not there',
      3,
      () => ['--pool', 'runs/mine/pool.jsonl', '--completions', 'none.jsonl'],
      'none.jsonl: there is no such file',
    ],
    ['a pool that is not there', 3, () => ['--pool', 'none.jsonl', '--completions', 'mine.jsonl'], 'no such pool'],
    ['a run that is not there', 2, () => ['--against', 'nobody'], 'there is no run nobody'],
    [
      'a run without rollouts',
      3,
      () => {
        rmSync(join(cwd, 'runs', changedRun('young', {}), 'rollouts'), { recursive: true })
        return ['--against', 'young']
      },
      'run young has no rollouts',
    ],
    [
      'a run whose last file is torn',
      3,
      () => ['--against', changedRun('torn', { [first]: (text) => text.slice(0, -200) })],
      `${first}:10: not a whole JSON object`,
    ],
    ['nothing to do', 2, () => [], 'give --pool FILE with --completions FILE'],
    ['too much to do', 2, () => ['--against', 'mine', '--pool', 'x'], 'brings its own prompts'],
    ['a value for no config', 2, () => [...given(''), '--set', 'rewards.profile=paper'], 'give --config FILE too'],
    ['a value that is not allowed', 2, () => ['--against', 'mine', '--set', 'rewards.profile=soft'], 'rewards.profile'],
  ])('%s is one clear message and exit code %i', async (_, exitCode, args, message) => {
    const { code, stderr } = await cli('score', ...args(), '--out', 'none')
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/^ {4}at |unexpected error/m)
    expect(code).toBe(exitCode)
    // An answer that is not whole must not look like one.
    expect(readdirSync(cwd).includes('none') ? readdirSync(join(cwd, 'none')) : []).toStrictEqual([])
  })
})

describe('docs/rescoring.md', () => {
  it.each(docCommands('docs/rescoring.md').map((command) => [command.args.join(' '), command] as const))(
    'drift-grpo %s',
    async (_, { args, exitCode }) => {
      const { code, stderr } = await cli(...args)
      expect({ code, stderr: stderr.includes('error') ? stderr : '' }).toStrictEqual({ code: exitCode, stderr: '' })
    },
  )
})
