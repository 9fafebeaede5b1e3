import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { Prompt } from '../../data/records/prompt.ts'
import { runProgram, type Ended } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

let folder = ''
beforeEach(() => {
  folder = temporaryDirectory()
})

/** A pool that is built in no time. */
const small = ['pool.train=5', 'pool.heldout=5', 'sampling.promptsPerStep=5', 'evaluation.prompts=5']

const cli = (args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  runProgram('scripts/cli.ts', args, { cwd: folder, env: { DRIFT_GRPO_DEBUG: '', ...env } })

/** Trains on the toy's settings with a model directory that exists, as far as the bad input lets it come. */
const train = (sets: string[], args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ended> => {
  mkdirSync(join(folder, 'model'), { recursive: true })
  const all = [...small, 'model.path=./model', ...sets].flatMap((set) => ['--set', set])
  return cli(['train', '--config', 'tiny.yaml', ...all, ...args], env)
}

const write = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const script = (name: string, text: string): string => {
  const file = write(name, `#!/bin/sh\n${text}\n`)
  chmodSync(file, 0o755)
  return file
}

/** One clear message, the documented exit code, nothing on stdout, no stack trace. */
const expectRefusal = ({ code, stdout, stderr }: Ended, exitCode: number, ...parts: string[]): void => {
  for (const part of parts) expect(stderr).toContain(part)
  expect(stderr).not.toMatch(/^ {4}at /m)
  expect(stderr).not.toContain('unexpected error')
  expect({ code, stdout }).toStrictEqual({ code: exitCode, stdout: '' })
}

describe('a bad command line', () => {
  it.each([
    [['trian'], 'did you mean train?'],
    [['train', '--confg', 'tiny.yaml'], 'did you mean config?'],
    [['train'], 'give --config FILE'],
    [['train', '--config', 'tinny.yaml'], 'Did you mean tiny.yaml?'],
    [['train', '--resume', 'nowhere'], 'there is no run nowhere'],
    [['train', '--resume', 'nowhere', '--set', 'grpo.beta=0'], 'a run that is continued keeps its values'],
    [['build-pool', '--out', 'x'], 'give --world N or --recordings PATH'],
    [['build-pool', '--out', 'x', '--world', 'many'], '--world: NaN is not a whole number from 5 up'],
    [['build-pool', '--out', 'x', '--world', '5', '--hide-share', '2'], '--hide-share: 2 is not a share from 0 to 1'],
    [['dashboard', '--port', '70000'], '--port: 70000 is not a whole number from 0 to 65535'],
    [['train', '--config', 'tiny.yaml', '--serve-rewards', '70000'], '--serve-rewards: 70000 is not a whole number'],
    [[], 'which command?'],
  ])('%j is a usage error', async (args, message) => {
    expectRefusal(await cli(args), 2, message)
  })
})

describe('a bad config', () => {
  it('is refused with file, line and column of every problem', async () => {
    write('bad.yaml', 'model:\n  path: ./model\ngrpo:\n  bta: 1\nrun:\n  steps: many\n')
    expectRefusal(
      await cli(['train', '--config', 'bad.yaml']),
      2,
      'bad.yaml has 2 problems',
      'bad.yaml:4:3  grpo.bta: unknown key; did you mean beta?',
      'bad.yaml:6:10  run.steps: "many" is not allowed; expected a whole number from 1 up',
    )
  })

  it('names a model directory that is not there', async () => {
    expectRefusal(await train(['model.path=./no-such-model']), 2, 'model.path: there is no directory ./no-such-model')
  })
})

describe('a bad pool', () => {
  const onPool = (path: string) => train([`pool={kind: file, path: ${path}}`])

  it('that is not there is named', async () => {
    expectRefusal(await onPool('nowhere.jsonl'), 3, 'nowhere.jsonl: no such pool')
  })

  it('with a truncated line is refused with file and line', async () => {
    expectRefusal(await onPool(write('cut.jsonl', '\n{"node": "n1", "mess')), 3, 'cut.jsonl:2: not a whole JSON object')
  })

  it('with an unknown node is refused with the known ones', async () => {
    expectRefusal(
      await onPool(write('tag.jsonl', '{"node": "judge_mood"}\n')),
      3,
      'tag.jsonl:1: node',
      'judge_mood',
      'classify_drift',
    )
  })

  it('without held-out prompts is refused where an evaluation is wanted, before anything is started', async () => {
    const { code } = await cli(['build-pool', '--world', '5', '--heldout', '5', '--out', 'pool'])
    expect(code).toBe(0)
    const lines = readFileSync(join(folder, 'pool', 'pool.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
    const file = write('train-only.jsonl', lines.filter((line) => line.includes('"split":"train"')).join('\n'))
    expectRefusal(await onPool(file), 3, 'evaluation.atEnd wants held-out prompts')
    expect(existsSync(join(folder, 'runs'))).toBe(false)
  })

  it('that comes out shorter than asked for is built, with a warning', async () => {
    const recordings = join(packageRoot(), 'test', 'fixtures', 'recordings')
    const { code, stderr } = await cli(['build-pool', '--recordings', recordings, '--heldout', '50', '--out', 'pool'])
    expect(code).toBe(0)
    expect(stderr).toMatch(/warning: the pool is \d+ held-out prompts short of .* n5 aggregate_and_decision 10$/m)
    expect(stderr).not.toContain('training prompts short of what was asked for')
  })

  it('of chat transcripts is built, without targets', async () => {
    const chats = join(packageRoot(), 'test', 'fixtures', 'recordings', 'chat.jsonl')
    const { code, stderr } = await cli(['build-pool', '--recordings', chats, '--heldout', '5', '--out', 'pool'])
    expect({ code, stderr: code === 0 ? '' : stderr }).toStrictEqual({ code: 0, stderr: '' })
    const prompts = readFileSync(join(folder, 'pool', 'pool.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Prompt.parse(JSON.parse(line)))
    expect(prompts.length).toBeGreaterThan(0)
    expect(prompts.every(({ target, origin }) => target === null && origin.source === 'chat')).toBe(true)
  })

  it('of recordings that are not there is named', async () => {
    const refused = await cli(['build-pool', '--recordings', 'nowhere', '--out', 'pool'])
    expectRefusal(refused, 3, 'there is no directory')
    expect(existsSync(join(folder, 'pool'))).toBe(false)
  })
})

describe('a bad Python', () => {
  it('that is missing is named', async () => {
    expectRefusal(await train(['worker.python=/nowhere/python']), 3, 'Python was not found at /nowhere/python')
  })

  it('that is too old is named with its version', async () => {
    const old = script('old-python', 'echo 3.9.2')
    expectRefusal(await train([`worker.python=${old}`]), 3, 'is Python 3.9.2; 3.11 or newer is needed')
  })
})

describe('a worker', () => {
  it('that is killed is reported with its last words, and is not left behind', async () => {
    const pidFile = join(folder, 'pid')
    const dying = script(
      'python',
      `[ "$1" = -c ] && echo 3.11.7 && exit\necho $$ > ${pidFile}\necho loading >&2\nkill -9 $$`,
    )
    expectRefusal(
      await train([`worker.python=${dying}`]),
      3,
      'the worker ended unexpectedly (signal SIGKILL)',
      '| loading',
    )
    expect(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0)).toThrow('ESRCH')
  })
})

describe('an address with somebody else behind it', () => {
  let server: Server
  beforeEach(async () => {
    server = createServer((_, response) =>
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>a blog</h1>'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => void server.close())

  it('is no worker, and is said to be none', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const refused = await train(['worker.kind=attach', `worker.url=${url}`], [], { DRIFT_GRPO_TOKEN: 'x' })
    expectRefusal(refused, 3, '404')
  })
})

describe('a place that cannot be written', () => {
  it('is named, for runs', async () => {
    write('file', '')
    expectRefusal(
      await train([], ['--dir', 'file/runs']),
      3,
      'a part of the path is a file, not a directory',
      'file/runs',
    )
  })

  it('is named, for pools', async () => {
    write('file', '')
    const refused = await cli(['build-pool', '--world', '5', '--heldout', '5', '--out', 'file/pool'])
    expectRefusal(refused, 3, 'a part of the path is a file, not a directory')
  })
})

describe('a run that was copied in part', () => {
  it('is refused before any process is started', async () => {
    const planned = await train([], ['--dry-run', '--json'])
    const { config } = JSON.parse(planned.stdout) as { config: object }
    const run = join(folder, 'runs', 'half')
    mkdirSync(join(run, 'checkpoints', 'step-000002'), { recursive: true })
    writeFileSync(join(run, 'config.resolved.json'), JSON.stringify({ values: config, provenance: {} }))
    writeFileSync(join(run, 'pool.jsonl'), '')
    const state = { runId: 'half', nextStep: 2, policyVersion: 2, policyName: 'p', adapter: 'v000002', totalTokens: 9 }
    writeFileSync(join(run, 'checkpoints', 'step-000002', 'loop.json'), JSON.stringify(state))
    expectRefusal(await cli(['eval', '--run', 'half']), 3, 'the adapter cannot be read')
    for (const name of ['../x', 'final', 'step-000010'])
      expectRefusal(await cli(['eval', '--run', 'half', '--name', name]), 2, 'cannot be the name of an evaluation')
  })
})
