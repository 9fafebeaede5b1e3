import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { XMLValidator } from 'fast-xml-parser'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageRoot } from '../../data/package-root.ts'
import { RegressionVerdict } from '../../data/records/regression.ts'
import { commands, wordOf } from '../../scripts/run-cli.ts'
import { randomSamples, writeEvaluation } from '../support/evaluations.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const cwd = temporaryDirectory()
const at = (...parts: string[]): string => join(cwd, 'runs', ...parts)
const cli = (...args: string[]) => runInProcess(args, cwd)

const weak = randomSamples('weak', 0.2)
const strong = randomSamples('strong', 0.8)

const addRun = (id: string): void => {
  mkdirSync(at(id), { recursive: true })
  writeFileSync(at(id, 'config.resolved.json'), '{}')
}

/** An adapter with made-up weights; returns its hash. */
const addAdapter = (id: string, name: string): string => {
  mkdirSync(at(id, 'adapters', name), { recursive: true })
  writeFileSync(at(id, 'adapters', name, 'adapter_model.safetensors'), `${id} ${name}`)
  return createHash('sha256').update(`${id} ${name}`).digest('hex')
}

beforeAll(() => {
  for (const id of ['good', 'bad', 'fresh', 'several']) addRun(id)
  const sha256 = addAdapter('good', 'v000009')
  addAdapter('good', 'v000005')
  writeEvaluation(at('good', 'eval', 'final'), weak, strong, { adapter: { directory: 'adapters/v000009', sha256 } })
  writeEvaluation(at('bad', 'eval', 'final'), strong, weak)
  for (const name of ['one', 'two']) writeEvaluation(at('several', 'eval', name), weak, strong)
})

describe('drift-grpo regress', () => {
  it('exits with 0 and says PASS, or with 10 and says REGRESSION', async () => {
    const passed = await cli('regress', '--trained', 'good')
    expect({ code: passed.code, last: passed.stdout.trim().split('\n').at(-1) }).toStrictEqual({
      code: 0,
      last: 'PASS: no regression in 12 tests at alpha 0.01',
    })
    const failed = await cli('regress', '--base', 'good', '--trained', 'bad')
    expect(failed.code).toBe(10)
    expect(failed.stdout.trim().split('\n').at(-1)).toMatch(/^REGRESSION: total reward; n1 classify_drift: reward/)
  })

  it('says the same as JSON, in a file, and as JUnit', async () => {
    const { code, stdout } = await cli(
      ...['regress', '--base', 'good', '--trained', 'bad', '--json', '--junit', 'junit.xml', '--out', 'verdict.json'],
    )
    const verdict = RegressionVerdict.parse(JSON.parse(stdout))
    expect({ code, verdict: verdict.verdict }).toStrictEqual({ code: 10, verdict: 'regression' })
    expect(JSON.parse(readFileSync(join(cwd, 'verdict.json'), 'utf8'))).toStrictEqual(verdict)
    const xml = readFileSync(join(cwd, 'junit.xml'), 'utf8')
    expect(XMLValidator.validate(xml)).toBe(true)
    expect(xml.match(/<failure /g)).toHaveLength(verdict.regressions.length)
  })

  it('takes runs, evaluations, adapters, and either model of an evaluation', async () => {
    const codes = await Promise.all(
      [
        ['--base', 'runs/bad', '--trained', 'runs/good/eval/final'],
        ['--base', 'bad', '--trained', 'runs/good/adapters/v000009'],
        ['--base', 'good@trained', '--trained', 'good@base'],
        ['--base', 'good', '--trained', 'good'],
        ['--base', 'several', '--trained', 'several', '--evaluation', 'two'],
      ].map(async (args) => (await cli('regress', ...args)).code),
    )
    expect(codes).toStrictEqual([0, 0, 10, 0, 0])
  })

  it('finds an adapter although another run’s summary cannot be read, and names that one where it finds none', async () => {
    mkdirSync(at('ancient', 'eval', 'final'), { recursive: true })
    writeFileSync(at('ancient', 'config.resolved.json'), '{}')
    writeFileSync(at('ancient', 'eval', 'final', 'summary.json'), '{"schema": 0}')
    expect(await cli('regress', '--trained', 'runs/good/adapters/v000009')).toMatchObject({ code: 0, stderr: '' })
    const { code, stderr } = await cli('regress', '--trained', 'runs/good/adapters/v000005')
    expect(code).toBe(2)
    expect(stderr).toContain(`could not be read: ${at('ancient', 'eval', 'final')}`)
  })

  it('refuses another judge by name, as text and with the exit code', async () => {
    addRun('judged')
    writeEvaluation(at('judged', 'eval', 'final'), weak, strong, { judge: 'llm judge-14b' })
    const { code, stdout, stderr } = await cli('regress', '--base', 'good', '--trained', 'judged')
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('judge (reference and llm judge-14b)')
  })

  it('looks only at what it is told to fail on', async () => {
    const { stdout } = await cli('regress', '--base', 'good', '--trained', 'bad', '--fail-on', 'component', '--json')
    const verdict = RegressionVerdict.parse(JSON.parse(stdout))
    expect(verdict.failOn).toStrictEqual(['component'])
    expect(new Set(verdict.regressions.map((name) => name.split(': ')[1]))).toStrictEqual(new Set(['judge']))
    expect((await cli('regress', '--base', 'good', '--trained', 'bad', '--min-delta', '3')).code).toBe(0)
  })

  it.each([
    [['--trained', 'fresh'], 'run fresh has no evaluation on record', 'drift-grpo eval --run'],
    [['--trained', 'several'], 'run several has several evaluations: one, two', '--evaluation one'],
    [['--trained', 'runs/good/adapters/v000005'], 'has no evaluation on record', '--checkpoint STEP'],
    [['--trained', 'nowhere'], 'nowhere is neither a run, nor an evaluation, nor an adapter', 'drift-grpo runs'],
    [['--trained', 'good', '--alpha', '7'], 'alpha must lie between 0 and 1', 'alpha'],
    [['--trained', 'good', '--min-delta', '-0.1'], 'must not be negative', '--min-delta 0.05'],
  ])('refuses %j and says what to do', async (args, message, remedy) => {
    const { code, stdout, stderr } = await cli('regress', ...args)
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain(remedy)
  })

  it('refuses an evaluation that was copied in part', async () => {
    const directory = writeEvaluation(at('torn', 'eval', 'final'), weak, strong)
    const lines = readFileSync(join(directory, 'trained.jsonl'), 'utf8').split('\n')
    writeFileSync(join(directory, 'trained.jsonl'), `${lines.slice(0, 7).join('\n')}\n`)
    const { code, stderr } = await cli('regress', '--trained', directory)
    expect(code).toBe(2)
    expect(stderr).toContain('it has 7 samples, its summary counts 400')
  })
})

describe('drift-grpo report', () => {
  it('writes its files and says the verdict, which is not its exit code', async () => {
    const { code, stdout } = await cli('report', '--run', 'bad', '--out', 'report', '--json')
    const told = JSON.parse(stdout) as { files: string[]; verdict: string }
    expect({ code, verdict: told.verdict }).toStrictEqual({ code: 0, verdict: 'regression' })
    expect(readFileSync(join(cwd, 'report', 'report.html'), 'utf8')).toContain('REGRESSION: ')
    expect(told.files).toContain('delta-histogram.svg')
  })

  it('is made also where the gate refuses a verdict, and says why in its place', async () => {
    const unscored = strong.map((sample) =>
      /-0[0-4]$/.test(sample.promptId)
        ? { ...sample, score: { kind: 'unscored', component: 'judge', reason: 'no verdict' } as const }
        : sample,
    )
    addRun('partial')
    writeEvaluation(at('partial', 'eval', 'final'), weak, unscored)
    expect((await cli('regress', '--trained', 'partial')).code).toBe(2)
    const { code, stdout } = await cli('report', '--run', 'partial', '--out', 'partial-report', '--json')
    expect({ code, told: JSON.parse(stdout) as object }).toMatchObject({
      code: 0,
      told: { verdict: null, headline: expect.stringContaining('NO VERDICT: total reward: only 75 of 100') as string },
    })
    const html = readFileSync(join(cwd, 'partial-report', 'report.html'), 'utf8')
    expect(html).toContain('NO VERDICT')
    expect(html).toContain('15 (5 left out)')
  })
})

describe('the workflow in docs/regression-gate.md', () => {
  const page = readFileSync(join(packageRoot(), 'docs', 'regression-gate.md'), 'utf8')
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block)

  it('is valid YAML with the parts of a workflow', () => {
    expect(blocks).toHaveLength(1)
    expect(parse(blocks[0]!)).toMatchObject({
      name: expect.any(String) as string,
      on: expect.anything() as object,
      jobs: { gate: { 'runs-on': expect.anything() as string, steps: expect.any(Array) as unknown[] } },
    })
  })

  it('runs commands and options that exist', () => {
    const workflow = parse(blocks[0]!) as { jobs: { gate: { steps: { run?: string }[] } } }
    const lines = workflow.jobs.gate.steps.flatMap(({ run = '' }) => run.replaceAll('\\\n', ' ').split('\n'))
    const used = lines.flatMap((line) => {
      const [, word = '', rest = ''] = /drift-grpo ([a-z-]+)(.*)/.exec(line) ?? []
      return word === '' ? [] : [{ word, options: [...rest.matchAll(/\s--([a-z-]+)/g)].map(([, name = '']) => name) }]
    })
    expect(used.map(({ word }) => word)).toEqual(expect.arrayContaining(['eval', 'regress', 'report']))
    const unknown = used.flatMap(({ word, options }) => {
      const command = commands.find((one) => wordOf(one) === word)
      return command === undefined ? [word] : options.filter((name) => !(name in command.options))
    })
    expect(unknown).toStrictEqual([])
  })
})
