import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { AuditReport } from '../../data/records/audit.ts'
import { distinct, type Question } from '../../judge/audit/questions.ts'
import { twinQuestions } from '../../judge/audit/suite.ts'
import { readTwinSuites } from '../../judge/audit/twins.ts'
import { referenceJudge } from '../../judge/reference.ts'
import { docCommands } from '../support/doc-commands.ts'
import { graderServer } from '../support/grader-server.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import type { Ended } from '../support/run-program.ts'

const suites = readTwinSuites()
// All completions of all twins, whether a rule needs them or not.
const questions = distinct(
  suites.flatMap(({ twins }) =>
    twins.flatMap(({ prompt, plain, doctored }) => [
      { prompt, completion: plain },
      { prompt, completion: doctored },
    ]),
  ),
)

let cwd = ''
let honest = new Map<Question, number>()
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'drift-grpo-audit-'))
  copyFileSync(join(packageRoot(), 'configs', 'tiny.yaml'), join(cwd, 'mine.yaml'))
  cpSync(join(packageRoot(), 'test', 'fixtures', 'recorded-run'), join(cwd, 'runs', 'mine'), { recursive: true })
  const [line = ''] = readFileSync(join(cwd, 'runs', 'mine', 'pool.jsonl'), 'utf8').split('\n')
  const { id } = JSON.parse(line) as { id: string }
  writeFileSync(join(cwd, 'mine.jsonl'), `${JSON.stringify({ promptId: id, completion: 'no envelope' })}\n`)
  const scores = questions.map(async (one) => [one, (await referenceJudge.judge(one)).score] as const)
  honest = new Map(await Promise.all(scores))
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const cli = (...args: string[]): Promise<Ended> => runInProcess(args, cwd)

const servers: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

/** A language model behind an endpoint, and the options that name it. */
const serve = async (scores: ReadonlyMap<Question, number>) => {
  const server = await graderServer(scores)
  servers.push(server)
  const set = (more = '') => ['--set', `judge={kind: llm, baseUrl: "${server.url}", model: grader${more}}`]
  return { ...server, set }
}

const always = (score: number): Map<Question, number> => new Map(questions.map((one) => [one, score]))

describe('audit of a language model', () => {
  it('passes an honest one, asks anew each time, and keeps the report', async () => {
    const { set, questions: asked } = await serve(honest)
    const first = await cli('audit', '--config', 'mine.yaml', ...set(), '--out', 'out', '--json')
    expect(first).toMatchObject({ code: 0 })
    const report = AuditReport.parse(JSON.parse(first.stdout))
    expect(report).toMatchObject({ verdict: 'pass', findings: [], unanswered: 0, form: 'full' })
    expect(report.judge).toMatch(/^grader@/)
    expect(report.all?.agreement?.spearman).toBe(1)
    expect(JSON.parse(readFileSync(join(cwd, 'out', 'audit.json'), 'utf8'))).toStrictEqual(JSON.parse(first.stdout))
    expect(asked()).toBe(report.questions)
    await cli('audit', '--config', 'mine.yaml', ...set(), '--json')
    expect(asked()).toBe(2 * report.questions)
    expect(existsSync(join(cwd, '.cache'))).toBe(false)
  })

  it('that likes everything is a finding, as the printed verdict says', async () => {
    const { set } = await serve(always(0.9))
    const { code, stdout } = await cli('audit', '--config', 'mine.yaml', ...set(), '--short')
    expect(code).toBe(10)
    expect(stdout).toMatch(/verdict: finding; 3 against grader@\w+ \(exit code 10\)\n$/)
    for (const name of ['master_key', 'contradiction', 'right_over_wrong'])
      expect(stdout).toMatch(new RegExp(`^ {2}${name}: 5 of 5 twins`, 'm'))
  })

  it('that is not there is a failed preflight', async () => {
    const { code, stderr } = await cli(
      ...['audit', '--config', 'mine.yaml', '--set', 'judge={kind: llm, baseUrl: "http://127.0.0.1:9/v1", model: m}'],
    )
    expect(stderr).toContain('cannot be asked')
    expect(code).toBe(3)
  })
})

describe('audit --dry-run', () => {
  it('counts the questions and asks none', async () => {
    const { set, questions: asked } = await serve(honest)
    const { code, stdout } = await cli('audit', '--config', 'mine.yaml', ...set(), '--dry-run', '--json')
    const plan = JSON.parse(stdout) as { twins: number; first: number }
    expect({ code, asked: asked() }).toStrictEqual({ code: 0, asked: 0 })
    expect(plan.twins).toBe(suites.reduce((sum, { twins }) => sum + twins.length, 0))
    expect(plan.first).toBeGreaterThanOrEqual(distinct(suites.flatMap(twinQuestions)).length)
  })
})

describe('completions for the distribution', () => {
  it('come from a run, the same ones each time, and the report goes to the run', async () => {
    const draw = () => cli('audit', '--run', 'mine', '--samples', '20', '--json')
    const [first, second] = [await draw(), await draw()]
    const [one, two] = [first, second].map(({ stdout }) => AuditReport.parse(JSON.parse(stdout)))
    expect(one).toMatchObject({ completionsFrom: 'rollouts of mine', all: { n: 20 } })
    expect(one?.nodes).toStrictEqual(two?.nodes)
    expect(Object.values(one?.nodes ?? {}).map((row) => row.n)).toStrictEqual([4, 4, 4, 4, 4])
    expect(Object.keys(one?.correlations ?? {})).toContain('json_sanity')
    expect(existsSync(join(cwd, 'runs', 'mine', 'audit', 'audit.json'))).toBe(true)
  })
})

describe('a bad command line', () => {
  it.each([
    [[], 2, 'give --config FILE, or --run RUN'],
    [['--config', 'mine.yaml', '--completions', 'mine.jsonl'], 2, 'go together'],
    [['--run', 'mine', '--pool', 'a', '--completions', 'b'], 2, 'not both'],
    [['--run', 'nobody'], 2, 'there is no run nobody'],
    [['--config', 'mine.yaml', '--set', 'judge.kind=none'], 2, 'there is no judge to audit'],
    [
      ['--config', 'mine.yaml', '--pool', 'runs/mine/pool.jsonl', '--completions', 'no.jsonl'],
      3,
      'no.jsonl: there is no such file',
    ],
  ])('%j', async (args, exitCode, message) => {
    const { code, stdout, stderr } = await cli('audit', ...args)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toStrictEqual({ code: exitCode, stdout: '' })
  })
})

describe('train', () => {
  // What comes after the audit fails at once: no interpreter there.
  const train = async (set: string[], id: string): Promise<Ended> => {
    mkdirSync(join(cwd, 'model'), { recursive: true })
    const sets = ['pool.train=5', 'pool.heldout=5', 'sampling.promptsPerStep=5', 'evaluation.prompts=5']
    const rest = [...sets, 'model.path=./model', 'worker.python=/nowhere/python', `run.id=${id}`]
    return await cli(
      'train',
      '--config',
      'mine.yaml',
      '--dir',
      join(cwd, 'runs'),
      ...set,
      ...rest.flatMap((one) => ['--set', one]),
    )
  }
  const reportOf = (id: string): string => join(cwd, 'runs', id, 'audit', 'audit.json')

  it('refuses a judge that fails its audit before anything is made', async () => {
    const { set } = await serve(always(0.9))
    const { code, stderr } = await train(set(), 'refused')
    expect(stderr).toContain('failed its audit:')
    expect(stderr).toContain('judge.audit: warn')
    expect({ code, made: existsSync(join(cwd, 'runs', 'refused')) }).toStrictEqual({ code: 3, made: false })
  })

  it('goes on with one that passes, and keeps the report with the run', async () => {
    const { set } = await serve(honest)
    const { stderr } = await train(set(), 'passed')
    expect(stderr).toContain('audit of the judge: pass')
    expect(stderr).toContain('Python was not found')
    expect(AuditReport.parse(JSON.parse(readFileSync(reportOf('passed'), 'utf8')))).toMatchObject({ form: 'short' })
  })

  it('goes on with any judge where the config only wants a warning', async () => {
    const { set } = await serve(always(0.9))
    const { stderr } = await train(set(', audit: warn'), 'warned')
    expect(stderr).toContain('audit of the judge: finding')
    expect(stderr).toContain('Python was not found')
    expect(JSON.parse(readFileSync(reportOf('warned'), 'utf8'))).toMatchObject({ verdict: 'finding' })
  })

  it('asks nothing where the audit is switched off', async () => {
    const { set, questions: asked } = await serve(always(0.9))
    const { stderr } = await train(set(', audit: off'), 'silent')
    expect(stderr).toContain('Python was not found')
    expect({ asked: asked(), kept: existsSync(reportOf('silent')) }).toStrictEqual({ asked: 0, kept: false })
  })
})

describe('docs/audit.md', () => {
  it.each(docCommands('docs/audit.md').map((command) => [command.args.join(' '), command] as const))(
    'drift-grpo %s',
    async (_, { args, exitCode }) => {
      const { code, stderr } = await cli(...args)
      expect({ code, stderr: stderr.includes('error') ? stderr : '' }).toStrictEqual({ code: exitCode, stderr: '' })
    },
  )
})
