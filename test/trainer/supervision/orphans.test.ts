import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { processStart } from '../../../trainer/lock.ts'
import { writePool } from '../../kill/through.ts'
import { runProgram, startProgram, type Started } from '../../support/run-program.ts'
import { makeTinyModel, noPython, temporaryDirectory } from '../../support/tiny-training.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

interface Child {
  readonly what: string
  readonly pid: number
}

/** A run that starts a policy server of its own, which does not watch for its parent's end. */
const settings = (model: string, pool: string): string => `run: {id: orphaned, dir: runs, steps: 4, checkpointEvery: 1}
model: {path: ${JSON.stringify(model)}, maxPromptTokens: 100, maxCompletionTokens: 12}
pool: {kind: file, path: ${JSON.stringify(pool)}}
judge: {kind: none}
lora: {rank: 4, alpha: 8}
sampling:
  groupSize: 4
  promptsPerStep: 2
  server: {kind: spawn, command: ${JSON.stringify(join(packageRoot(), 'test/support/worker-engine.mjs'))}, dtype: float32}
worker: {kind: spawn, threads: 1}
evaluation: {atEnd: false}
`

describe.skipIf(noPython || process.platform !== 'linux')('the policy server of a run that is killed', () => {
  let model = ''
  const groups = new Set<number>()
  beforeAll(() => void (model = makeTinyModel()))
  afterEach(() => {
    for (const pid of groups) if (processStart(pid) !== undefined) process.kill(-pid, 'SIGKILL')
    groups.clear()
  })

  /** A directory to train in, on a machine that says it has the GPU which a policy server of its own is refused without. */
  const workplace = (): { cwd: string; root: string; env: NodeJS.ProcessEnv } => {
    const cwd = temporaryDirectory()
    mkdirSync(join(cwd, 'bin'), { recursive: true })
    writeFileSync(join(cwd, 'bin/nvidia-smi'), '#!/bin/sh\necho "Pretended GPU, 81559, 81079"\n', { mode: 0o755 })
    writeFileSync(join(cwd, 'orphaned.yaml'), settings(model, writePool()))
    const path = `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}`
    return { cwd, root: join(cwd, 'runs/orphaned'), env: { PATH: path } }
  }
  /** Kills a training once it steps; its policy server. */
  const killed = async ({ child, said, ended }: Started, root: string): Promise<number> => {
    await said('step 1/')
    const records = join(root, 'processes')
    const children = readdirSync(records).map((name) => JSON.parse(readFileSync(join(records, name), 'utf8')) as Child)
    for (const { pid } of children) groups.add(pid)
    child.kill('SIGKILL')
    await ended
    const server = children.find(({ what }) => what === 'policy server')
    if (server === undefined) throw new Error(`no policy server on record: ${JSON.stringify(children)}`)
    expect(processStart(server.pid)).toBeDefined()
    return server.pid
  }

  it('outlives it, and is ended and named by the next start, which finishes the run', async () => {
    const { cwd, root, env } = workplace()
    const pid = await killed(startProgram('scripts/train.ts', ['--config', 'orphaned.yaml'], { cwd, env }), root)
    const { code, stderr } = await runProgram('scripts/train.ts', ['--resume', 'orphaned'], { cwd, env })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toContain(`ended the policy server (process ${pid}) that a killed run had left behind`)
    expect(processStart(pid)).toBeUndefined()
    expect(readdirSync(join(root, 'processes'))).toEqual([])
    expect(existsSync(join(root, 'lock.json'))).toBe(false)
  })

  it('is ended and named by doctor', async () => {
    const { cwd, root, env } = workplace()
    const pid = await killed(startProgram('scripts/train.ts', ['--config', 'orphaned.yaml'], { cwd, env }), root)
    const { stdout } = await runProgram('scripts/cli.ts', ['doctor', '--config', 'orphaned.yaml', '--json'], {
      cwd,
      env,
    })
    const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string; detail: string }[] }
    expect(findings).toContainEqual(
      expect.objectContaining({
        ...{ name: 'left behind', state: 'warn' },
        detail: `orphaned: ended the policy server (process ${pid}) that a killed run had left behind`,
      }),
    )
    expect(processStart(pid)).toBeUndefined()
  })
})
