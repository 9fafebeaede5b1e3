import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import type { AdapterRef, SamplerNotice } from '../../../trainer/sampler.ts'
import { attached } from '../../../trainer/supervision/attached.ts'
import { Endpoints } from '../../../trainer/supervision/endpoints.ts'
import { restarted } from '../../../trainer/supervision/restarted.ts'
import { freePort } from '../../../trainer/vllm/free-port.ts'
import type { EngineOptions, EngineProcess } from '../../../trainer/vllm-process.ts'
import { fakeServer } from '../../support/fake-server.ts'
import { fakeClient, fakeEngine, FakeEngines, type FakeMode } from '../../support/fake-engines.ts'

const engines = new FakeEngines()
const open: Endpoints[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((sampler) => sampler.close()))
  await engines.stop()
})

const adapter: AdapterRef = { version: 1, location: '/adapters/v1', sha256: '', bytes: 1 }
const request = (seed: number, policy = 'p1') => ({
  ...{ policy, promptTokenIds: [1, 2, 3], count: 2, maxTokens: 9, temperature: 1, seed },
})

/** What a sampler says, and a way to wait for it. */
const listen = (sampler: Endpoints) => {
  const notices: SamplerNotice[] = []
  const waiting = new Set<() => void>()
  sampler.watch((notice) => {
    notices.push(notice)
    for (const wake of waiting) wake()
  })
  const said = async (part: RegExp): Promise<void> => {
    while (!notices.some(({ text }) => part.test(text))) await new Promise<void>((resolve) => void waiting.add(resolve))
  }
  return { notices, said }
}

/** Records which server proved what. */
const prove = (sampler: Endpoints) => {
  const proved: string[] = []
  sampler.onReload(async (policy, server, address) => {
    const names = await server.policies()
    if (!names.includes(policy)) throw new PipelineError('sampler', `${policy} is not listed`)
    proved.push(`${policy} at ${address.split(':').at(-1)}`)
  })
  return proved
}

const start = (mode: FakeMode, port: number): Promise<EngineProcess> =>
  fakeEngine(mode, { port }).then((options) => engines.start(options))

/** Two servers that somebody else runs. */
const two = async (modes: readonly [FakeMode, FakeMode], patienceMs?: number) => {
  const ports = [await freePort(), await freePort()] as const
  const [first, second] = await Promise.all([start(modes[0], ports[0]), start(modes[1], ports[1])])
  const source = ({ url }: EngineProcess) =>
    attached({ url, client: fakeClient(url), pollMs: 20, ...(patienceMs === undefined ? {} : { patienceMs }) })
  const sampler = new Endpoints([source(first), source(second)])
  open.push(sampler)
  return { sampler, first, second, ports, proved: prove(sampler), ...listen(sampler) }
}

const kill = (engine: EngineProcess): void => void process.kill(engine.pid, 'SIGKILL')

/** Resolves when a server has taken so many requests that it will not answer. */
const holds = (options: { readonly logPath: string }, count: number): Promise<void> =>
  expect.poll(() => readFileSync(options.logPath, 'utf8').split('holding a request').length - 1).toBe(count)

describe('several samplers', () => {
  it('share requests, each to the one with the fewest, and load, list and unload on all', async () => {
    const { sampler, first, second } = await two(['ok', 'ok'])
    await sampler.load('p1', adapter)
    const lists = await sampler.onEvery((server) => server.policies())
    expect(lists).toEqual([
      ['base', 'p1'],
      ['base', 'p1'],
    ])
    const asked = await sampler.onEvery(async (_, address) => address)
    expect(asked).toEqual([`the sampler at ${first.url}`, `the sampler at ${second.url}`])
    await sampler.unload('p1')
    expect(await sampler.policies()).toEqual(['base'])
  })

  it('lose one in the middle of a step: only its requests are made again, with the same results', async () => {
    const held = await fakeEngine('hold')
    const engine = await engines.start(held)
    const other = await engines.start(await fakeEngine('ok'))
    const expected = await Promise.all(
      [1, 2, 3, 4].map((seed) => fakeClient(other.url).sample(request(seed * 256, 'base'))),
    )
    const sampler = new Endpoints([
      attached({ url: engine.url, client: fakeClient(engine.url), pollMs: 20 }),
      attached({ url: other.url, client: fakeClient(other.url), pollMs: 20 }),
    ])
    open.push(sampler)
    const proved = prove(sampler)
    const { notices, said } = listen(sampler)
    await sampler.load('p1', adapter)
    const running = [1, 2, 3, 4].map((seed) => sampler.sample(request(seed * 256, 'base')))
    await holds(held, 2)
    kill(engine)
    expect(await Promise.all(running)).toEqual(expected)
    expect(notices).toMatchObject([
      { kind: 'warning', text: expect.stringContaining(`${engine.url} is lost`) as string },
    ])
    // It comes back at the same address, and serves again what it must.
    await engines.start(await fakeEngine('ok', { port: held.command.port }))
    await said(/is back after/)
    const port = String(held.command.port)
    expect(proved).toEqual([`base at ${port}`, `p1 at ${port}`])
    expect(await sampler.onEvery((server) => server.policies())).toHaveLength(2)
    expect(notices.map(({ kind }) => kind)).toEqual(['warning', 'warning'])
  })

  it('do not take one back that serves something else; the other goes on alone', async () => {
    const { sampler, first, ports, said } = await two(['ok', 'ok'])
    sampler.onReload(() => Promise.reject(new PipelineError('sampler', 'other weights')))
    await sampler.load('p1', adapter)
    kill(first)
    await expect
      .poll(() =>
        fakeClient(first.url)
          .health()
          .catch(() => 'gone'),
      )
      .toBe('gone')
    expect(await sampler.sample(request(256))).toHaveLength(2)
    await start('ok', ports[0])
    await said(/is given up: other weights/)
    expect(await sampler.onEvery(async (_, address) => address)).toEqual([
      `the sampler at http://127.0.0.1:${ports[1]}`,
    ])
  })

  it('are waited for when all are away, and no longer than allowed', async () => {
    const { sampler, first, second, notices } = await two(['ok', 'ok'], 60)
    kill(first)
    kill(second)
    await expect(sampler.sample(request(256, 'base'))).rejects.toMatchObject({
      boundary: 'sampler',
      retryable: true,
      message: expect.stringMatching(/did not come back within 0 s/) as string,
    })
    expect(notices.map(({ kind }) => kind)).toEqual(['warning', 'paused'])
  })
})

describe('a sampler that somebody else runs', () => {
  const alone = async () => {
    const options = await fakeEngine('ok')
    const engine = await engines.start(options)
    const sampler = new Endpoints([attached({ url: engine.url, client: fakeClient(engine.url), pollMs: 20 })])
    open.push(sampler)
    return { sampler, engine, port: options.command.port, proved: prove(sampler), ...listen(sampler) }
  }

  it('that is started again is waited for, gets its adapters back and proves them before it is sampled from', async () => {
    const { sampler, engine, port, proved, notices, said } = await alone()
    await sampler.load('p1', adapter)
    const before = await sampler.sample(request(256))
    kill(engine)
    const waiting = sampler.sample(request(256))
    await said(/is lost/)
    await start('ok', port)
    expect(await waiting).toEqual(before)
    expect(proved).toEqual([`base at ${port}`, `p1 at ${port}`])
    expect(notices.map(({ kind }) => kind)).toEqual(['paused', 'continued'])
  })

  it('that was started again unnoticed and has forgotten its adapter is given it back', async () => {
    const { sampler, engine, port, proved } = await alone()
    await sampler.load('p1', adapter)
    const before = await sampler.sample(request(256))
    await engine.stop()
    await start('ok', port)
    const after = await Promise.all([sampler.sample(request(256)), sampler.sample(request(256))])
    expect(after).toEqual([before, before])
    expect(proved).toEqual([`base at ${port}`, `p1 at ${port}`])
  })

  it('is not asked again for an adapter that nobody loaded', async () => {
    const { sampler, notices } = await alone()
    await expect(sampler.sample(request(256, 'p9'))).rejects.toThrow(/does not exist/)
    expect(notices).toEqual([])
  })

  it('is not given up for an adapter that was let go while it was on its way there', async () => {
    const { sampler, engine, port, notices, said } = await alone()
    await sampler.load('p1', adapter)
    let unloading: Promise<void> | undefined
    sampler.onReload(async (policy) => {
      if (policy === 'base') return
      unloading = sampler.unload(policy)
      throw new PipelineError('sampler', 'its directory is gone')
    })
    kill(engine)
    const waiting = sampler.sample(request(256, 'base'))
    await said(/is lost/)
    await start('ok', port)
    expect(await waiting).toHaveLength(2)
    await unloading
    expect(notices.map(({ kind }) => kind)).toEqual(['paused', 'continued'])
  })

  it('that forgets its adapter again and again is given up', async () => {
    const server = await fakeServer(({ route }) =>
      route === 'POST /v1/completions'
        ? { status: 404, json: { error: { message: 'The model `p1` does not exist.', type: 'NotFoundError' } } }
        : { text: '' },
    )
    try {
      const source = attached({ url: server.url, client: fakeClient(server.url) })
      const sampler = new Endpoints([{ ...source, mostLosses: 2 }])
      open.push(sampler)
      await sampler.load('p1', adapter)
      await expect(sampler.sample(request(256))).rejects.toMatchObject({
        retryable: true,
        message: `the sampler at ${server.url} was lost more than 2 times within an hour`,
      })
      expect(server.calls.filter(({ route }) => route === 'POST /v1/load_lora_adapter')).toHaveLength(3)
    } finally {
      await server.close()
    }
  })

  it('lets go of whoever waits when they give up', async () => {
    const { sampler, engine, said } = await alone()
    const stop = new AbortController()
    kill(engine)
    const waiting = sampler.sample(request(256, 'base'), stop.signal)
    await said(/is lost/)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

describe('a sampler that was started here', () => {
  const supervised = async (modes: readonly FakeMode[], pausesMs = [0, 0, 0]) => {
    const modesLeft = [...modes]
    const started: EngineOptions[] = []
    const next = async (signal?: AbortSignal) => {
      const options = await fakeEngine(modesLeft.shift() ?? 'ok', { signal })
      started.push(options)
      return { ...(await engines.start(options)), token: '' }
    }
    const first = await next()
    const clientOf = ({ url, gone }: EngineProcess) => fakeClient(url, gone)
    const source = restarted({ name: 'the policy server', first, start: next, clientOf, pausesMs })
    const sampler = new Endpoints([source])
    open.push(sampler)
    return { sampler, first, started, proved: prove(sampler), ...listen(sampler) }
  }

  it('and dies in the middle of requests is started again; they get the same answers from their seeds', async () => {
    const { sampler, first, started, proved, notices } = await supervised(['hold'])
    const [options] = started
    if (options === undefined) throw new Error('nothing was started')
    await sampler.load('p1', adapter)
    const running = [1, 2, 3].map((seed) => sampler.sample(request(seed * 256)))
    await holds(options, 3)
    kill(first)
    const results = await Promise.all(running)
    const reference = await engines.start(await fakeEngine('ok'))
    const client = fakeClient(reference.url)
    await client.load('p1', adapter)
    expect(results).toEqual(await Promise.all([1, 2, 3].map((seed) => client.sample(request(seed * 256)))))
    expect(started).toHaveLength(2)
    expect(proved.map((one) => one.split(' ')[0])).toEqual(['base', 'p1'])
    expect(notices).toMatchObject([
      {
        kind: 'paused',
        text: expect.stringMatching(/lost: the policy server ended \(signal SIGKILL\)[^]*holding a request/) as string,
      },
      { kind: 'warning', text: 'starting the policy server again (1 of at most 3 times)' },
      {
        kind: 'continued',
        text: expect.stringMatching(/back after \d+ s; there again and proved: base, p1$/) as string,
      },
    ])
  })

  it('and is killed by every request is given up after so many times, with its last lines', async () => {
    const { sampler, started } = await supervised(['poison', 'poison', 'poison'], [0, 0])
    await expect(sampler.sample(request(256, 'base'))).rejects.toMatchObject({
      boundary: 'sampler',
      retryable: true,
      message: expect.stringMatching(/exit code 1[^]*illegal memory access[^]*started again 2 times/) as string,
    })
    expect(started).toHaveLength(3)
    await expect(sampler.sample(request(256, 'base'))).rejects.toThrow(/illegal memory access/)
  })

  it('and does not start again at once is tried again', async () => {
    const { sampler, first, started } = await supervised(['ok', 'dies'])
    kill(first)
    expect(await sampler.sample(request(256, 'base'))).toHaveLength(2)
    expect(started).toHaveLength(3)
  })
})
