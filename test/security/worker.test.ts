import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionRequest } from '../../trainer/attempt.ts'
import { exchange } from '../../trainer/http.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import { startWorker, type WorkerProcess } from '../../trainer/worker-process.ts'
import { makeTinyModel, noPython, temporaryDirectory, tinyConfig } from '../support/tiny-training.ts'

const routes = [
  ...['GET /info', 'GET /v1/models', 'GET /version', 'GET /docs', 'GET /openapi.json', 'GET /'],
  ...['POST /session', 'POST /tokenize', 'POST /update', 'POST /logprobs', 'POST /adapters', 'POST /state/save'],
  ...['POST /state/load', 'POST /v1/completions', 'POST /v1/load_lora_adapter', 'POST /v1/unload_lora_adapter'],
]

/** Addresses that listen on a port, as the kernel writes them. */
const listening = (port: number): string[] => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(1) : [],
  )
  return rows.flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    return state === '0A' && local.endsWith(`:${hex}`) ? [local.split(':')[0] ?? ''] : []
  })
}

/** Command lines of every process that can be seen: what `ps` shows. */
const commandLines = (): string[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return [readFileSync(join('/proc', name, 'cmdline'), 'latin1')]
    } catch {
      // It ended between the listing and the reading.
      return []
    }
  })

describe.skipIf(noPython || process.platform !== 'linux')('a worker that a run starts (skipped without .venv)', () => {
  const run = new RunDirectory(temporaryDirectory(), 'mine')
  const outside = temporaryDirectory()
  const config = tinyConfig(noPython ? 'none' : makeTinyModel(), run.root)
  let worker: WorkerProcess
  const ask = (method: 'GET' | 'POST', route: string, token?: string, body?: unknown) =>
    exchange({ method, url: `${worker.url}${route}`, token, body, timeoutMs: 60_000 })
  const client = (root: RunDirectory) =>
    new WorkerClient({
      ...{ url: worker.url, token: worker.token, requestTimeoutMs: 60_000 },
      ...{ adaptersDir: root.adapters, statesDir: root.checkpoints },
    })

  beforeAll(async () => {
    if (config.worker.kind !== 'spawn') throw new Error('the tests start their own worker')
    worker = await startWorker({
      ...{ config: config.worker, model: config.model.path, maxContext: 200 },
      ...{ roots: [run.adapters, run.checkpoints], logPath: run.log('worker') },
    })
    await client(run).open(sessionRequest(config, run.id))
  }, 600_000)
  afterAll(() => worker.stop())

  it('listens on 127.0.0.1 and nowhere else', () => {
    // The kernel writes addresses with the lowest byte first.
    expect(listening(Number(new URL(worker.url).port))).toEqual(['0100007F'])
  })

  it.each(routes)('refuses %s without its token, with a wrong one, and with two', async (call) => {
    const [method, route] = call.split(' ') as ['GET' | 'POST', string]
    for (const token of [undefined, 'wrong', `${worker.token}x`, worker.token.slice(1), ''])
      expect(await ask(method, route, token)).toMatchObject({ status: 401 })
  })

  it('has its token in no command line and in no log', () => {
    expect(worker.token.length).toBeGreaterThanOrEqual(32)
    const lines = commandLines()
    expect(lines.some((line) => line.includes('grpo_worker') && line.includes(run.adapters))).toBe(true)
    expect(lines.filter((line) => line.includes(worker.token))).toEqual([])
    expect(readFileSync(run.log('worker'), 'utf8')).not.toContain(worker.token)
  })

  it("stores below its run's directories, and nowhere else", async () => {
    const saved = await client(run).saveAdapter('v000000')
    expect(existsSync(join(saved.location, 'adapter_config.json'))).toBe(true)
    const elsewhere = client(new RunDirectory(outside, 'other'))
    await expect(elsewhere.saveAdapter('v000000')).rejects.toThrow(/is not below a --root of this worker/)
    await expect(client(run).saveAdapter('../../../v000000')).rejects.toThrow(/--root/)
    for (const path of [join(outside, 'x'), '/etc/x', `${run.adapters}/../x`])
      for (const route of ['/adapters', '/state/save', '/state/load'])
        expect(await ask('POST', route, worker.token, { path })).toMatchObject({ status: 422 })
    expect(readdirSync(outside)).toEqual([])
    expect(readdirSync(run.root).toSorted()).toEqual(['adapters', 'logs'])
  })
})
