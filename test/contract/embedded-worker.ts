import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { packageRoot } from '../../data/package-root.ts'

const token = 'contract-token'
export const python = join(packageRoot(), '.venv', 'bin', 'python')

export interface RunningWorker {
  readonly url: string
  readonly token: string
  /** Directory that make_models.py wrote. */
  readonly models: string
  readonly stop: () => Promise<void>
}

const readyPort = async (child: ChildProcess): Promise<number> => {
  if (child.stdout === null) throw new Error('the worker has no stdout')
  for await (const line of createInterface({ input: child.stdout })) {
    const ready = JSON.parse(line) as { ready: boolean; port: number }
    if (ready.ready) return ready.port
  }
  throw new Error(`the worker ended before it was ready (exit code ${child.exitCode})`)
}

/** Makes models in a temporary directory and starts the real worker process on the tiny base among them. */
export const startWorker = async (): Promise<RunningWorker> => {
  const models = await mkdtemp(join(tmpdir(), 'sampler-contract-'))
  const env = {
    ...process.env,
    PYTHONPATH: join(packageRoot(), 'trainer', 'python'),
    DRIFT_GRPO_TOKEN: token,
    HF_HUB_OFFLINE: '1',
  }
  await promisify(execFile)(python, [join(packageRoot(), 'test', 'contract', 'make_models.py'), models], { env })
  const options = ['--model', join(models, 'model'), '--served-name', 'base', '--threads', '1', '--watch-stdin']
  const child = spawn(python, ['-m', 'grpo_worker', ...options], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const stop = async (): Promise<void> => {
    const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve()
    child.stdin.end()
    await ended
    await rm(models, { recursive: true, force: true })
  }
  try {
    return { url: `http://127.0.0.1:${await readyPort(child)}`, token, models, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
