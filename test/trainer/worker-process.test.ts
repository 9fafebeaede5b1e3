import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WorkerSection, type SpawnedWorker } from '../../trainer/worker-config.ts'
import { processStart } from '../../trainer/lock.ts'
import { diagnose } from '../../trainer/python-check.ts'
import { startWorker } from '../../trainer/worker-process.ts'
import { running } from '../support/running.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

/** A stand-in for an interpreter: answers the question for its version, then does what the script says. */
const interpreter = (version: string, script: string): string => {
  const path = join(temporaryDirectory(), 'python')
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = -c ]; then echo ${version}; exit 0; fi\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

const start = (
  python: string,
  startTimeoutSeconds = 20,
  signal?: AbortSignal,
  records?: string,
  logPath = join(temporaryDirectory(), 'logs/worker.log'),
) =>
  startWorker({
    config: WorkerSection.parse({ python, startTimeoutSeconds }) as SpawnedWorker,
    model: 'nowhere',
    maxContext: 10,
    roots: [],
    logPath,
    signal,
    ...(records === undefined ? {} : { records }),
    killAfterMs: 50,
  })

describe('starting a worker that cannot start', () => {
  it('says that there is no such interpreter', async () => {
    await expect(start('/no/such/python')).rejects.toMatchObject({
      boundary: 'worker',
      message: 'Python was not found at /no/such/python',
    })
  })

  it('refuses an interpreter that is too old before anything slow is tried', async () => {
    await expect(start(interpreter('3.9.18', 'sleep 60'))).rejects.toThrow(/is Python 3.9.18; 3.11 or newer is needed/)
  })

  it('names the package that does not import, and shows what was printed', async () => {
    const python = interpreter('3.11.9', `echo "ModuleNotFoundError: No module named 'torch'" >&2; exit 1`)
    await expect(start(python)).rejects.toMatchObject({
      boundary: 'worker',
      message: expect.stringMatching(/ended unexpectedly \(exit code 1\)[^]*\| ModuleNotFoundError/) as string,
      remedy: expect.stringContaining('The Python package torch is not installed') as string,
    })
  })

  it('ends like any other where its log cannot be written, and says so', async () => {
    const python = interpreter('3.11.9', 'echo "no such model" >&2; exit 1')
    const failure: unknown = await start(python, 20, undefined, undefined, temporaryDirectory()).catch(
      (error: unknown) => error,
    )
    expect(String(failure)).toContain('ended unexpectedly (exit code 1)')
    expect(String(failure)).toContain('| no such model')
    expect(String(failure)).toContain('| the log could not be written: EISDIR')
  })

  it('gives up at the deadline and leaves no process, even one that ignores SIGTERM', async () => {
    const pidFile = join(temporaryDirectory(), 'pid')
    const python = interpreter('3.12.0', `trap '' TERM; echo $$ > ${pidFile}; while :; do sleep 0.05; done`)
    await expect(start(python, 1)).rejects.toThrow(/not ready after 1 s/)
    const { readFileSync } = await import('node:fs')
    expect(processStart(Number(readFileSync(pidFile, 'utf8')))).toBeUndefined()
  })

  it('stops a start that is no longer wanted', async () => {
    const controller = new AbortController()
    const starting = start(interpreter('3.11.0', 'sleep 60'), 60, controller.signal)
    setTimeout(() => controller.abort(new Error('never mind')), 100)
    await expect(starting).rejects.toThrow('never mind')
  })

  it.skipIf(process.platform !== 'linux')(
    'leaves none that cannot be put on record (skipped without /proc)',
    async () => {
      const python = interpreter('3.11.0', 'sleep 60')
      await expect(start(python, 60, undefined, join(python, 'processes'))).rejects.toThrow('ENOTDIR')
      expect(running(python)).toEqual([])
    },
  )
})

describe('the diagnosis of log lines', () => {
  it.each([
    [['OSError: [Errno 98] Address already in use'], /port is taken/],
    [['torch.OutOfMemoryError: CUDA out of memory.'], /GPU memory/],
    [['x', "cannot load a causal language model from 'y'"], /model\.path/],
    [['ImportError: libgomp.so.1: cannot open shared object file'], /does not load/],
  ])('knows %j', (lines, expected) => {
    expect(diagnose(lines)).toMatch(expected)
  })

  it('keeps silent about what it does not know', () => {
    expect(diagnose(['Traceback', 'KeyError: 3'])).toBeUndefined()
  })
})
