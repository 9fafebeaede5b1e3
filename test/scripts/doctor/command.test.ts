import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runInProcess } from '../../support/in-process-cli.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

const noVllm = ['sampling.server.command=/nowhere/vllm', 'judge.server.command=/nowhere/vllm'].flatMap((set) => [
  '--set',
  set,
])

describe('drift-grpo doctor', () => {
  it('prints findings as JSON and exits with 3 on a failure', async () => {
    const args = [
      'doctor',
      '--json',
      '--set',
      'worker.python=/nowhere/python',
      '--set',
      'pool.train=50',
      '--set',
      'sampling.promptsPerStep=5',
    ]
    const { code, stdout } = await runInProcess(args, temporaryDirectory())
    expect(code).toBe(3)
    const { fit, findings } = JSON.parse(stdout) as { fit: boolean; findings: { name: string; state: string }[] }
    expect(fit).toBe(false)
    expect(findings.filter(({ state }) => state === 'fail').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['python', 'python packages', 'worker']),
    )
    expect(new Set(findings.map(({ name }) => name)).size).toBe(findings.length)
  })

  it('prints a table, and a remedy for each failure', async () => {
    const { code, stdout, stderr } = await runInProcess(
      ['doctor', '--set', 'pool={kind: file, path: gone.jsonl}'],
      temporaryDirectory(),
    )
    expect(code).toBe(3)
    expect(stdout).toMatch(/^check +result +found/)
    expect(stdout).toMatch(/\npool: .*gone\.jsonl.*\n {2}\S/)
    expect(stderr).toContain('not fit for tiny.yaml: ')
  })
})

describe('train --config granite-2b.yaml', () => {
  // What is cached or reachable on this machine must not matter.
  beforeEach(() => {
    vi.stubEnv('HF_HUB_OFFLINE', '1')
    vi.stubEnv('HF_HOME', temporaryDirectory())
    vi.stubEnv('HF_HUB_CACHE', undefined)
  })
  afterEach(() => vi.unstubAllEnvs())

  it('plans everything without GPU, hub or vLLM, and writes nothing', async () => {
    const cwd = temporaryDirectory()
    const args = ['train', '--config', 'granite-2b.yaml', '--dry-run', '--set', 'gpu.memoryGiB=79', ...noVllm]
    const { code, stdout } = await runInProcess(args, cwd)
    expect(code).toBe(0)
    expect(stdout).toContain('2,533,539,840 parameters')
    expect(stdout).toMatch(/judge server +0\.30 +23\.7/)
    expect(stdout).toMatch(/worker +0\.35 +27\.\d/)
    expect(readdirSync(cwd)).toEqual([])
  })

  it('is refused by numbers when the plan does not fit, dry or not', async () => {
    const args = ['train', '--config', 'granite-2b.yaml', '--set', 'gpu.memoryGiB=24', ...noVllm]
    const dry = await runInProcess([...args, '--dry-run'], temporaryDirectory())
    expect(dry.code).toBe(3)
    expect(dry.stdout).toMatch(/does not fit: the judge server needs \d+\.\d GiB/)
    const cwd = temporaryDirectory()
    const real = await runInProcess(args, cwd)
    expect(real.code).toBe(3)
    expect(real.stderr).toMatch(/gpu memory: the plan does not fit: the judge server needs \d+\.\d GiB/)
    expect(real.stderr).toContain('hub: ibm-granite/granite-3.3-2b-instruct@main is not in the cache')
    expect(real.stderr).toContain('vllm: there is no program /nowhere/vllm')
    expect(readdirSync(cwd)).toEqual([])
  })
})
