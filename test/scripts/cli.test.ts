import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { shippedConfigs } from '../../configs/find.ts'
import { packageRoot } from '../../data/package-root.ts'
import { commands, wordOf } from '../../scripts/run-cli.ts'
import { runProgram, type Ended } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

let cwd = ''
beforeEach(() => {
  cwd = temporaryDirectory()
})

const cli = (...args: string[]): Promise<Ended> => runProgram('scripts/cli.ts', args, { cwd })

describe('help', () => {
  it('lists every command and the exit codes', async () => {
    const { code, stdout } = await cli('--help')
    expect(code).toBe(0)
    for (const command of commands) expect(stdout).toContain(`drift-grpo ${wordOf(command)}`)
    expect(stdout).toContain('130/143 stopped by a signal')
  })

  it('of a command lists its options with examples', async () => {
    const { code, stdout } = await cli('build-pool', '--help')
    expect(code).toBe(0)
    expect(stdout).toContain('--recordings')
    expect(stdout).toContain('drift-grpo build-pool --world 1000 --out my-pool')
  })

  it('shows examples that can be copied, also where a terminal has 80 columns', async () => {
    for (const name of ['push', 'eval']) {
      const lines = (await cli(name, '--help', '--no-color')).stdout.split('\n')
      const own = commands.find((command) => wordOf(command) === name)
      for (const [line] of own?.examples ?? []) expect(lines).toContain(`  ${line}`)
      expect(lines.filter((line) => line.length > 80)).toStrictEqual([])
    }
  })

  it('has an example for every command', () => {
    expect(commands.filter(({ examples }) => examples.length === 0).map(wordOf)).toStrictEqual([])
  })

  it('knows the version', async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }
    expect((await cli('--version')).stdout.trim()).toBe(version)
  })
})

describe('train --dry-run', () => {
  it('prints config and plan and writes nothing', async () => {
    const { code, stdout, stderr } = await runProgram('scripts/train.ts', ['--config', 'tiny', '--dry-run'], { cwd })
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: 'dry run: nothing was written or started\n' })
    expect(stdout).toContain('profile: hardened')
    expect(stdout.indexOf('tokens in all')).toBeLessThan(stdout.indexOf('profile: hardened'))
    expect(stdout).toContain('120 × 16 prompts × 4 completions')
    expect(readdirSync(cwd)).toStrictEqual([])
  })

  it('prints one JSON object when asked to', async () => {
    const { stdout } = await cli('train', '--config', 'tiny', '--set', 'run.steps=7', '--dry-run', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      config: { run: { steps: 7 } },
      provenance: { 'run.steps': '--set run.steps=7' },
      plan: { steps: 7, warnings: [] },
    })
  })
})

describe('schema', () => {
  it('prints a JSON Schema', async () => {
    expect(JSON.parse((await cli('schema')).stdout)).toMatchObject({ type: 'object', required: ['model'] })
  })
})

describe('init', () => {
  it('copies a shipped config once, and never over another file', async () => {
    const first = await cli('init', 'mine.yaml', '--from', 'recorded.yaml')
    expect(first.stdout.trim()).toBe(join(cwd, 'mine.yaml'))
    expect(readFileSync(join(cwd, 'mine.yaml'), 'utf8')).toBe(
      readFileSync(join(packageRoot(), 'configs', 'recorded.yaml'), 'utf8'),
    )
    const second = await cli('init', 'mine.yaml')
    expect(second.code).toBe(2)
    expect(second.stderr).toContain('mine.yaml exists')
  })

  it('knows every shipped config', async () => {
    const { stdout } = await cli('init', '--help')
    for (const name of shippedConfigs()) expect(stdout).toContain(name)
  })
})

describe('build-pool', () => {
  it('writes the same pool for the same seed, with a report', async () => {
    const build = (out: string) => cli('build-pool', '--world', '10', '--heldout', '5', '--out', out, '--json')
    const [first, second] = [await build('a'), await build('b')]
    expect({ code: first.code, same: first.stdout === second.stdout }).toStrictEqual({ code: 0, same: true })
    expect(JSON.parse(first.stdout)).toMatchObject({ splits: { train: { total: 10 }, heldout: { total: 5 } } })
    const pools = ['a', 'b'].map((name) => readFileSync(join(cwd, name, 'pool.jsonl'), 'utf8'))
    expect(pools[0]).toBe(pools[1])
    expect(pools[0]?.split('\n')).toHaveLength(16)
  })

  const recordings = join(packageRoot(), '..', 'shared', 'data', 'agentdojo')
  it.skipIf(!existsSync(join(recordings, 'sample')))(
    'reads recorded runs (skipped where none lie beside the repository)',
    async () => {
      const { code, stdout } = await cli(
        'build-pool',
        '--recordings',
        join(recordings, 'sample'),
        '--unlabelled',
        '--out',
        'a',
      )
      expect(code).toBe(0)
      expect(stdout).toContain('n1 classify_drift')
      expect(statSync(join(cwd, 'a', 'pool.jsonl')).isFile()).toBe(true)
    },
  )
})

describe('runs', () => {
  it('says where there are none', async () => {
    expect(await cli('runs')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('no runs in') as string,
    })
    expect((await cli('runs', '--json')).stdout).toBe('[]\n')
  })
})
