import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import type { EngineCommand } from '../../trainer/vllm/command.ts'
import { freePort } from '../../trainer/vllm/free-port.ts'
import { startEngine, type EngineOptions, type EngineProcess } from '../../trainer/vllm-process.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const program = join(packageRoot(), 'test/support/fake-vllm.mjs')

const started: EngineProcess[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((engine) => engine.stop()))
})

const options = async (mode: string, changes: Partial<EngineOptions> = {}): Promise<EngineOptions> => {
  const port = await freePort()
  const args = ['serve', 'model', '--served-model-name', 'base', '--host', '127.0.0.1', '--port', String(port)]
  const command: EngineCommand = {
    ...{ program, args: [...args, `--fake=${mode}`], env: { VLLM_API_KEY: 'key' } },
    ...{ host: '127.0.0.1', port, servedName: 'base' },
  }
  const logPath = join(temporaryDirectory(), 'logs', 'vllm.log')
  const defaults = { what: 'policy server', boundary: 'sampler', startTimeoutSeconds: 60, pollMs: 20 } as const
  return { ...defaults, command, logPath, ...changes }
}

const start = async (given: EngineOptions): Promise<EngineProcess> => {
  const engine = await startEngine(given)
  started.push(engine)
  return engine
}

/** Is there a process of that id? */
const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('a vLLM that is started', () => {
  it('is there when it is healthy and serves its model; its output is in the log; a stop ends it', async () => {
    const said: string[] = []
    const given = await options('ok', { onProgress: (text) => void said.push(text) })
    const engine = await start(given)
    expect((await fetch(`${engine.url}/health`)).status).toBe(200)
    expect(readFileSync(given.logPath, 'utf8')).toContain('listening')
    expect(said[0]).toBe(`starting the policy server; log: ${given.logPath}`)
    await engine.stop()
    expect(lives(engine.pid)).toBe(false)
    expect(engine.gone.aborted).toBe(false)
  })

  it('that ends while it starts is reported with its last lines and what to do', async () => {
    await expect(start(await options('dies'))).rejects.toMatchObject({
      boundary: 'sampler',
      message: expect.stringMatching(/the policy server ended \(exit code 1\)[\s\S]*Free memory on device/) as unknown,
      remedy: expect.stringContaining('lower memoryFraction') as unknown,
    })
  })

  it('that never gets healthy is ended at the deadline', async () => {
    const given = await options('never-healthy', { startTimeoutSeconds: 1 })
    await expect(start(given)).rejects.toThrow('the policy server was not ready after 1 s')
    await expect(fetch(`http://127.0.0.1:${given.command.port}/health`)).rejects.toThrow('fetch failed')
  })

  it('that serves another model is not taken for ours', async () => {
    await expect(start(await options('other-model'))).rejects.toThrow('is not the policy server that was started')
  })

  it('is left at once when the start is given up', async () => {
    const stop = new AbortController()
    const given = await options('never-healthy', { signal: stop.signal })
    const starting = start(given)
    stop.abort(new Error('enough'))
    await expect(starting).rejects.toThrow('enough')
    await expect(fetch(`http://127.0.0.1:${given.command.port}/health`)).rejects.toThrow('fetch failed')
  })

  it('that ignores SIGTERM is killed with its children', async () => {
    const given = await options('stubborn', { killAfterMs: 50 })
    const engine = await start(given)
    const child = Number(/child (\d+)/.exec(readFileSync(given.logPath, 'utf8'))?.[1])
    expect(lives(child)).toBe(true)
    await engine.stop()
    expect(lives(engine.pid)).toBe(false)
    await expect.poll(() => lives(child)).toBe(false)
  })

  it('that dies later aborts what waits for it', async () => {
    const engine = await start(await options('ok'))
    const gone = new Promise((resolve) => engine.gone.addEventListener('abort', resolve))
    process.kill(engine.pid, 'SIGKILL')
    await gone
    expect((engine.gone.reason as Error).message).toContain('ended (signal SIGKILL)')
  })

  it('whose program is not there is a failed start', async () => {
    const given = await options('ok')
    const command = { ...given.command, program: '/nowhere/vllm' }
    await expect(start({ ...given, command })).rejects.toThrow(/ended \(spawn \/nowhere\/vllm ENOENT\)/)
  })
})
