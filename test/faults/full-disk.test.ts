import { existsSync, lstatSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PipelineError } from '../../data/errors.ts'
import { reportError } from '../../scripts/report-error.ts'
import { runTraining, type TrainingOptions } from '../../trainer/train.ts'
import { halfFiles, tracesOf } from '../support/run-traces.ts'
import { canMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { startStub, type Stub } from '../support/stub-training.ts'
import { captured, letterJudge, shortPool, source, tinyConfig } from '../support/tiny-training.ts'

vi.setConfig({ testTimeout: 900_000 })

const page = 4096
const large = 64 << 20

describe.skipIf(!canMount())('a disk that takes no more (skipped where no file system can be mounted)', () => {
  let disk: SmallDisk
  let stub: Stub
  let reference: unknown
  let needed = 0
  let started = false

  const settings = (extra: Partial<TrainingOptions> = {}): TrainingOptions => ({
    config: tinyConfig('stub', join(disk.path, 'runs'), {
      run: { dir: join(disk.path, 'runs'), id: 'r', steps: 3, checkpointEvery: 1 },
      sampling: {
        groupSize: 2,
        promptsPerStep: 2,
        server: { kind: 'vllm', url: stub.url, tokenEnv: null, model: 'base' },
      },
      worker: { kind: 'attach', url: stub.url, tokenEnv: 'STUB_TOKEN', tokenBudget: 4096, requestTimeoutSeconds: 60 },
      evaluation: { prompts: 2, samples: 2 },
    }),
    ...{ pool: shortPool(6, 3), judge: letterJudge, source, progress: captured() },
    onStart: () => void (started = true),
    ...extra,
  })
  const root = (): string => join(disk.path, 'runs', 'r')

  /** Trains on what is there; gives what ended it. */
  const train = async (extra: Partial<TrainingOptions> = {}): Promise<unknown> => {
    started = false
    const resume = existsSync(join(root(), 'config.resolved.json')) ? 'r' : null
    try {
      await runTraining(settings({ resume, ...extra }))
      return null
    } catch (error) {
      return error
    }
  }
  const clear = (): void => {
    disk.readOnly(false)
    disk.resize(large)
    for (const name of readdirSync(disk.path)) rmSync(join(disk.path, name), { recursive: true, force: true })
  }

  beforeAll(async () => {
    vi.stubEnv('STUB_TOKEN', 'any')
    disk = mountSmallDisk(large)
    stub = await startStub()
    await train()
    reference = tracesOf(root())
    needed = disk.usedBytes()
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await stub.close()
    disk.unmount()
  })

  /** What must be true of a run that could not write. */
  const expectRefusal = (error: unknown, what: RegExp): void => {
    expect(error).toBeInstanceOf(PipelineError)
    const { text, exitCode } = reportError(error, { startedTraining: started })
    expect(text).toMatch(what)
    expect(text).toContain(disk.path)
    expect(exitCode).toBe(started ? 4 : 3)
    if (existsSync(root())) expect(halfFiles(root())).toEqual([])
  }

  /** Goes on where there is room again; gives what was said about the failure. */
  const recovered = async (error: unknown): Promise<string> => {
    expectRefusal(error, /the disk is full|no space left/)
    const { text } = reportError(error)
    expect(await train()).toBeNull()
    return text
  }

  it('that is full at any write is named with what is left of it, harms nothing, and the run goes on when there is room', async () => {
    const ended: string[] = []
    for (let size = page; size < needed; size += page) {
      clear()
      disk.resize(size)
      const error = await train()
      disk.resize(large)
      // The last pages may be needed by a temporary file only.
      if (error !== null) ended.push(await recovered(error))
      expect(tracesOf(root())).toEqual(reference)
    }
    // Not the same write every time: the run's beginning, its steps, its checkpoints and its evaluation were all met.
    // Rollouts are written beside the update and its adapter: which of them meets the end first is chance.
    for (const place of ['config', 'adapters', 'updates', 'metrics', 'checkpoints', 'eval'])
      expect(ended.join('\n')).toContain(place)
  })

  it('that has room for all but the rollouts names them, and the run goes on likewise', async () => {
    clear()
    const full = mountSmallDisk(page)
    try {
      writeFileSync(join(full.path, 'filler'), Buffer.alloc(page))
      const rollouts = join(root(), 'rollouts')
      const write = (text: string): void => {
        if (!text.includes('started') || lstatSync(rollouts, { throwIfNoEntry: false })?.isSymbolicLink()) return
        rmSync(rollouts, { recursive: true, force: true })
        symlinkSync(full.path, rollouts)
      }
      const error = await train({ progress: { ...captured(), write } })
      expectRefusal(error, /rollouts.*the disk is full/)
      rmSync(rollouts)
      expect(await train()).toBeNull()
      expect(tracesOf(root())).toEqual(reference)
    } finally {
      full.unmount()
    }
  })

  it.each(['started', 'step 1/', 'step 2/', 'step 3/'])('that becomes read-only (%s) likewise', async (line) => {
    clear()
    const write = (text: string): void => {
      if (text.includes(line)) disk.readOnly(true)
    }
    const error = await train({ progress: { ...captured(), write } })
    expectRefusal(error, /the file system is read-only|read-only file system/)
    disk.readOnly(false)
    // It could not be removed, and holds nobody up once its process has ended; this one lives.
    rmSync(join(root(), 'lock.json'), { force: true })
    expect(await train()).toBeNull()
    expect(tracesOf(root())).toEqual(reference)
  })

  it('that is read-only from the first is refused before anything is started', async () => {
    clear()
    disk.readOnly(true)
    const error = await train()
    disk.readOnly(false)
    expectRefusal(error, /cannot write .*: the file system is read-only/)
    expect(readdirSync(disk.path)).toEqual([])
  })
})
