import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { z } from 'zod'
import { parseJson } from '../data/json.ts'
import { milliseconds } from '../data/duration.ts'
import { PipelineError } from '../data/errors.ts'
import { packageRoot } from '../data/package-root.ts'
import { recordChild } from './supervision/child-records.ts'
import { killGroup } from './supervision/kill-group.ts'
import { checkPython, diagnose, pythonPath } from './python-check.ts'
import type { SpawnedWorker } from './worker-config.ts'

export interface WorkerProcessOptions {
  readonly config: SpawnedWorker
  /** Model directory or hub name. */
  readonly model: string
  readonly maxContext: number
  /** Directories below which it reads and writes adapters and states, and nowhere else. */
  readonly roots: readonly string[]
  readonly logPath: string
  /** Directory where it is put on record, so that it is found if this process is killed; absent: nowhere. */
  readonly records?: string
  /** Aborting stops a start that is under way. */
  readonly signal?: AbortSignal | undefined
  /** Grace between SIGTERM and SIGKILL. */
  readonly killAfterMs?: number
}

/** A running worker that dies with this process. */
export interface WorkerProcess {
  readonly url: string
  readonly token: string
  readonly pid: number
  /** Served name of the base model. */
  readonly baseName: string
  /** Aborted when the process has ended without being asked; the reason is a PipelineError with its last log lines. */
  readonly gone: AbortSignal
  /** SIGTERM to the process group, SIGKILL after the grace; resolves when the process has ended. */
  stop(): Promise<void>
}

const Ready = z.object({ ready: z.literal(true), port: z.int(), pid: z.int() })
const baseName = 'base'
const keptLines = 30

const launcher = ({ ranks }: SpawnedWorker): string[] =>
  ranks === 1 ? [] : ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(ranks)]

const workerArguments = (options: WorkerProcessOptions): string[] => {
  const { config } = options
  return [
    ...launcher(config),
    ...['-m', 'grpo_worker', '--model', options.model, '--host', '127.0.0.1', '--port', '0', '--served-name', baseName],
    ...['--dtype', config.dtype, '--device', config.device, '--threads', String(config.threads)],
    ...[
      '--max-context',
      String(options.maxContext),
      '--memory-fraction',
      String(config.memoryFraction),
      '--watch-stdin',
    ],
    ...options.roots.flatMap((directory) => ['--root', directory]),
  ]
}

/** Its own process group, so that a terminal's Ctrl-C reaches only this process, which then decides. */
const launch = (python: string, options: WorkerProcessOptions, token: string): ChildProcess =>
  spawn(python, workerArguments(options), {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DRIFT_GRPO_TOKEN: token,
      PYTHONPATH: join(packageRoot(), 'trainer', 'python'),
      PYTHONUNBUFFERED: '1',
      // Threads that spin while they wait make a shared machine several times slower.
      OMP_WAIT_POLICY: process.env['OMP_WAIT_POLICY'] ?? 'PASSIVE',
      HF_HUB_DISABLE_TELEMETRY: '1',
    },
  })

/** Copies what the process writes to its log, keeps the last lines, and finds the line that says it is ready. */
const follow = (
  child: ChildProcess,
  logPath: string,
): { tail: string[]; ready: Promise<number>; flushed: () => Promise<void> } => {
  const log = createWriteStream(logPath, { flags: 'a' })
  const tail: string[] = []
  const remember = (line: string): void => {
    tail.push(line)
    if (tail.length > keptLines) tail.shift()
  }
  // A full disk must not end the worker: its last lines are known without the log.
  const written = finished(log).catch((error: Error) => remember(`the log could not be written: ${error.message}`))
  const keep = (line: string): void => {
    log.write(`${line}\n`)
    remember(line)
  }
  const copy = async (stream: Readable | null, onPort?: (port: number) => void): Promise<void> => {
    if (stream === null) return
    for await (const line of createInterface({ input: stream })) {
      const port = onPort === undefined ? undefined : readyPort(line)
      if (port === undefined) keep(line)
      else onPort?.(port)
    }
  }
  const closed = [copy(child.stderr)]
  const ready = new Promise<number>((resolve) => closed.push(copy(child.stdout, resolve)))
  const flushed = async (): Promise<void> => {
    await Promise.all(closed)
    log.end()
    await written
  }
  return { tail, ready, flushed }
}

const readyPort = (line: string): number | undefined => {
  return line.startsWith('{') ? Ready.safeParse(parseJson(line)).data?.port : undefined
}

const endedEarly = (
  tail: readonly string[],
  code: number | null,
  signal: string | null,
  logPath: string,
): PipelineError => {
  const how = signal === null ? `exit code ${String(code)}` : `signal ${signal}`
  const remedy =
    diagnose(tail) ??
    (signal === 'SIGKILL'
      ? 'It may have run out of memory. Resume the run from its last checkpoint.'
      : 'Resume the run from its last checkpoint.')
  return new PipelineError(
    'worker',
    `the worker ended unexpectedly (${how}); full log: ${logPath}\n${tail.map((line) => `  | ${line}`).join('\n')}`,
    { remedy },
  )
}

/**
 * Starts the Python worker on a free loopback port and waits until it has loaded the model. Throws a PipelineError that
 * names what is wrong: no Python, a Python too old, a package that does not import, a model that does not load, time out.
 */
export const startWorker = async (options: WorkerProcessOptions): Promise<WorkerProcess> => {
  const python = pythonPath(options.config.python)
  await checkPython(python)
  const token = randomBytes(24).toString('hex')
  await mkdir(dirname(options.logPath), { recursive: true })
  // From here to the listeners nothing is awaited: a child that ends at once would end unheard.
  const child = launch(python, options, token)
  let forget: (() => void) | undefined
  const { tail, ready, flushed } = follow(child, options.logPath)
  const gone = new AbortController()
  let stopping = false
  const ended = new Promise<void>((resolve) => {
    const end = async (code: number | null, signal: string | null): Promise<void> => {
      forget?.()
      await flushed()
      if (!stopping) gone.abort(endedEarly(tail, code, signal, options.logPath))
      resolve()
    }
    child.once('error', (error) => {
      const remedy = 'Correct worker.python, or see what limits the processes of this machine (ulimit -u, memory).'
      gone.abort(
        new PipelineError('worker', `${python} could not be started: ${error.message}`, { remedy, cause: error }),
      )
      resolve()
    })
    child.once('exit', (code, signal) => void end(code, signal))
  })
  // The worker watches its standard input; a broken pipe there only means that it has ended.
  child.stdin?.on('error', () => undefined)
  const pid = child.pid ?? 0
  const killNow = (): void => killGroup(pid, 'SIGKILL')
  process.once('exit', killNow)
  const stop = async (): Promise<void> => {
    stopping = true
    if (pid !== 0 && child.exitCode === null && child.signalCode === null) {
      killGroup(pid, 'SIGTERM')
      const timer = setTimeout(killNow, options.killAfterMs ?? 5000)
      await ended
      clearTimeout(timer)
    }
    await ended
    process.removeListener('exit', killNow)
  }
  try {
    // Off the record it would be found by nobody: then it is stopped.
    if (options.records !== undefined) forget = recordChild(options.records, 'worker', pid)
    const port = await firstOf(ready, options, gone.signal)
    return { url: `http://127.0.0.1:${port}`, token, pid, baseName, gone: gone.signal, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The port, or whatever comes before it: the end of the process, the deadline, the caller's wish to stop. */
const firstOf = (ready: Promise<number>, options: WorkerProcessOptions, gone: AbortSignal): Promise<number> => {
  const seconds = options.config.startTimeoutSeconds
  const deadline = AbortSignal.timeout(milliseconds(seconds))
  const signals = [gone, deadline, ...(options.signal === undefined ? [] : [options.signal])]
  return new Promise((resolve, reject) => {
    const any = AbortSignal.any(signals)
    const fail = (): void => {
      const late = !gone.aborted && any.reason === deadline.reason
      const remedy = `Raise worker.startTimeoutSeconds, or see ${options.logPath}.`
      reject(
        late
          ? new PipelineError('worker', `the worker was not ready after ${seconds} s`, { remedy })
          : (any.reason as Error),
      )
    }
    if (any.aborted) fail()
    else any.addEventListener('abort', fail)
    ready.then(resolve, reject)
  })
}
