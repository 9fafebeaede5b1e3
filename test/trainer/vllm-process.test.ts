import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { EngineOptions, EngineProcess } from '../../trainer/vllm-process.ts'
import { fakeEngine, FakeEngines } from '../support/fake-engines.ts'
import { running } from '../support/running.ts'

const engines = new FakeEngines()
afterEach(() => engines.stop())

const options = fakeEngine
const start = (given: EngineOptions): Promise<EngineProcess> => engines.start(given)

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
    expect(readdirSync(given.records)).toEqual([`${engine.pid}.json`])
    await engine.stop()
    expect(readdirSync(given.records)).toEqual([])
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

  it.skipIf(process.platform !== 'linux')(
    'is ended when it cannot be put on record (skipped without /proc)',
    async () => {
      const given = await options('ok')
      await expect(start({ ...given, records: join(given.command.program, 'processes') })).rejects.toThrow('ENOTDIR')
      expect(running(`--port\0${given.command.port}`)).toEqual([])
    },
  )
})
