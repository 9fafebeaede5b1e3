import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { parseJson } from '../data/json.ts'
import { milliseconds } from '../data/duration.ts'
import { PipelineError, type Boundary } from '../data/errors.ts'
import { exchange, succeeded } from './http.ts'
import type { EngineCommand } from './vllm/command.ts'
import { recordChild } from './supervision/child-records.ts'
import { killGroup } from './supervision/kill-group.ts'
import { diagnoseEngine, logTail } from './vllm/log-tail.ts'

export interface EngineOptions {
  /** What it serves, for messages: "policy server". */
  readonly what: string
  readonly boundary: Boundary
  readonly command: EngineCommand
  readonly logPath: string
  /** Directory where it is put on record, so that it is found if this process is killed. */
  readonly records: string
  readonly startTimeoutSeconds: number
  /** Aborting stops a start that is under way. */
  readonly signal?: AbortSignal | undefined
  /** Told now and then how the start is going. */
  readonly onProgress?: ((text: string) => void) | undefined
  /** Between two looks at the health of a server that starts. */
  readonly pollMs?: number
  /** Grace between SIGTERM and SIGKILL. */
  readonly killAfterMs?: number
}

/** A running vLLM that ends with this process. */
export interface EngineProcess {
  readonly url: string
  readonly pid: number
  /** Aborted when it has ended without being asked; the reason is a PipelineError with its last log lines. */
  readonly gone: AbortSignal
  /** SIGTERM to the process group, SIGKILL after the grace; resolves when the process has ended. */
  stop(): Promise<void>
}

const Models = z.object({ data: z.array(z.object({ id: z.string() })) })

/** Its own process group: a terminal's Ctrl-C reaches only this process, and the engine's children end with it. */
const launch = ({ command }: EngineOptions, log: number): ChildProcess =>
  spawn(command.program, [...command.args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...command.env },
  })

const openLog = async (path: string): Promise<FileHandle> => {
  await mkdir(dirname(path), { recursive: true })
  return await open(path, 'a')
}

const endedEarly = async (options: EngineOptions, how: string): Promise<PipelineError> => {
  const { what, boundary, logPath } = options
  const lines = await logTail(logPath)
  const remedy = diagnoseEngine(lines) ?? `See ${logPath}.`
  const shown = lines.map((line) => `  | ${line}`).join('\n')
  return new PipelineError(boundary, `the ${what} ended (${how}); full log: ${logPath}\n${shown}`, { remedy })
}

/** Follows the child to its end, which is `gone` unless it was asked for. `onEnd` is told at once. */
const watch = (child: ChildProcess, options: EngineOptions, onEnd: () => void) => {
  const gone = new AbortController()
  const state = { stopping: false }
  const ended = new Promise<void>((resolve) => {
    const end = async (how: string): Promise<void> => {
      onEnd()
      if (!state.stopping) gone.abort(await endedEarly(options, how))
      resolve()
    }
    child.once('error', (error) => void end(error.message))
    child.once('exit', (code, signal) => void end(signal === null ? `exit code ${String(code)}` : `signal ${signal}`))
  })
  return { gone: gone.signal, state, ended }
}

const isHealthy = async (url: string, signal: AbortSignal): Promise<boolean> => {
  try {
    return succeeded(await exchange({ method: 'GET', url: `${url}/health`, timeoutMs: 5000, signal }))
  } catch {
    // Nobody listens yet, or the answer was late: both mean "not yet"; the caller watches deadline and process.
    return false
  }
}

const secondsBetweenNews = 15

/** Waits for the first healthy answer; rejects with the reason of whatever comes before it. */
const untilHealthy = async (url: string, options: EngineOptions, signal: AbortSignal): Promise<void> => {
  const started = performance.now()
  let lastNews = 0
  while (!(await isHealthy(url, signal))) {
    signal.throwIfAborted()
    const seconds = Math.round((performance.now() - started) / 1000)
    if (seconds - lastNews >= secondsBetweenNews) {
      lastNews = seconds
      const last = (await logTail(options.logPath)).at(-1) ?? 'no output yet'
      options.onProgress?.(`starting the ${options.what}: ${seconds} s; ${last.slice(0, 160)}`)
    }
    await wait(options.pollMs ?? 500)
  }
  signal.throwIfAborted()
}

/** A healthy server that is another one, left over at the same port, would be sampled from unnoticed. */
const requireServed = async (url: string, options: EngineOptions, signal: AbortSignal): Promise<void> => {
  const { command, what, boundary } = options
  const token = command.env['VLLM_API_KEY']
  const reply = await exchange({ method: 'GET', url: `${url}/v1/models`, token, timeoutMs: 30_000, signal })
  const known = succeeded(reply) ? (Models.safeParse(parseJson(reply.text)).data?.data ?? []) : []
  if (known.some(({ id }) => id === command.servedName)) return
  throw new PipelineError(boundary, `what answers at ${url} is not the ${what} that was started`, {
    remedy: `It serves ${known.map(({ id }) => id).join(', ') || 'nothing that it tells us'}: end it, or choose another port.`,
  })
}

const deadlineError = ({ what, boundary, startTimeoutSeconds, logPath }: EngineOptions): PipelineError =>
  new PipelineError(boundary, `the ${what} was not ready after ${startTimeoutSeconds} s`, {
    remedy: `Raise startTimeoutSeconds, or see ${logPath}.`,
  })

interface Launched {
  readonly pid: number
  readonly gone: AbortSignal
  readonly stop: () => Promise<void>
}

/** Starts the child, on record before anything else happens, and sees to it that it ends with this process. */
const launchRecorded = async (options: EngineOptions): Promise<Launched> => {
  const log = await openLog(options.logPath)
  // From here to the listeners nothing is awaited: a child that ends at once would end unheard.
  const child = launch(options, log.fd)
  const pid = child.pid ?? 0
  let forget: (() => void) | undefined
  const killNow = (): void => killGroup(pid, 'SIGKILL')
  const { gone, state, ended } = watch(child, options, () => {
    // The leader has ended; a child of its own that did not would keep the GPU's memory.
    killNow()
    forget?.()
    process.removeListener('exit', killNow)
  })
  process.once('exit', killNow)
  try {
    forget = recordChild(options.records, options.what, pid)
  } catch (error) {
    // Off the record it would be found by nobody.
    state.stopping = true
    killNow()
    await ended
    throw error
  } finally {
    await log.close()
  }
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    state.stopping = true
    if (pid !== 0 && child.exitCode === null && child.signalCode === null) {
      killGroup(pid, 'SIGTERM')
      const timer = setTimeout(killNow, options.killAfterMs ?? 20_000)
      await ended
      clearTimeout(timer)
    }
    await ended
  }
  return { pid, gone, stop: () => (stopping ??= stop()) }
}

/**
 * Starts a vLLM server in its own process group, its output in a log file, and waits until it is healthy and serves the
 * model it was started for. Throws a PipelineError of the given boundary; no process is left then.
 */
export const startEngine = async (options: EngineOptions): Promise<EngineProcess> => {
  const { command, signal } = options
  const url = `http://${command.host}:${command.port}`
  options.onProgress?.(`starting the ${options.what}; log: ${options.logPath}`)
  const { pid, gone, stop } = await launchRecorded(options)
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(deadlineError(options)), milliseconds(options.startTimeoutSeconds))
  try {
    const any = AbortSignal.any([gone, deadline.signal, ...(signal === undefined ? [] : [signal])])
    await untilHealthy(url, options, any)
    await requireServed(url, options, any)
    return { url, pid, gone, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(timer)
  }
}
