import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import { JudgeError, type JudgeNotice, type OpenJudge } from '../../../judge/judge.ts'
import { openLlmJudge } from '../../../judge/llm/open.ts'
import { JudgeServer, scoreOf } from '../../support/judge-server.ts'
import { samplePrompts } from '../samples.ts'
import { judgeConfig, setUp } from './open-judge.ts'

const prompt = samplePrompts.n1
const completions = Array.from({ length: 20 }, (_, i) => `completion ${i}`)

const askAll = (judge: OpenJudge, texts: readonly string[] = completions, signal?: AbortSignal) =>
  Promise.allSettled(texts.map((completion) => judge.judge({ prompt, completion, signal })))
const scoresOf = (results: readonly PromiseSettledResult<{ readonly score: number }>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? result.value.score : (result.reason as Error).message))
const told = (judge: OpenJudge, kind: JudgeNotice['kind']): Promise<JudgeNotice> =>
  new Promise((resolve) => void judge.watch?.((notice) => notice.kind === kind && resolve(notice)))

/** Puts a server where the first one was. */
const comeBack = async (port: number, options = {}): Promise<JudgeServer> => {
  const server = await JudgeServer.start(options, port)
  onTestFinished(() => server.close())
  return server
}

describe('an endpoint that goes down', () => {
  it('pauses everybody, once, and all have their own verdict when it is back', async () => {
    const { judge, server, notices } = await setUp({}, { concurrency: 4 })
    const { port } = server
    await server.close()
    const paused = told(judge, 'paused')
    const asking = askAll(judge)
    expect(await paused).toMatchObject({ reason: expect.stringContaining('ECONNREFUSED') })
    const back = await comeBack(port)
    expect(scoresOf(await asking)).toEqual(completions.map(scoreOf))
    expect(completions.map((one) => back.asked(one))).toEqual(completions.map(() => 1))
    expect(notices.map(({ kind }) => kind)).toEqual(['paused', 'continued'])
    expect(judge.counts?.()).toMatchObject({ outages: 1 })
  })

  it('pauses a question that is alone, too, rather than give it up', async () => {
    const { judge, server } = await setUp({}, { retries: 0 })
    const { port } = server
    await server.close()
    const paused = told(judge, 'paused')
    const asking = askAll(judge, ['completion 5'])
    await paused
    await comeBack(port)
    expect(scoresOf(await asking)).toEqual([0.05])
  })

  it('asks only probes while it is down, and goes on when one is answered', async () => {
    let down = true
    const { judge, server } = await setUp(
      {
        behave: () => (down ? { status: 503 } : 'verdict'),
        // The first one is that of the start.
        probe: (number) => {
          down = number > 1 && number < 5
          return down ? { status: 503 } : 'verdict'
        },
      },
      { concurrency: 1 },
    )
    down = true
    expect(scoresOf(await askAll(judge))).toEqual(completions.map(scoreOf))
    expect(server.probes).toBe(5)
    expect(server.questions.length).toBe(5 + completions.length)
  })

  it('can be left out instead: its questions fail at once, and later ones are answered', async () => {
    const { judge, server, notices } = await setUp({}, { onOutage: 'skip', retries: 0, concurrency: 1 })
    const { port } = server
    await server.close()
    const results = await askAll(judge)
    expect(results.every((one) => one.status === 'rejected' && one.reason instanceof JudgeError)).toBe(true)
    expect(scoresOf(results).filter((text) => String(text).startsWith('the judge is down'))).toHaveLength(16)
    expect(judge.counts?.().requests).toBe(5)
    const back = told(judge, 'warning')
    await comeBack(port)
    await back
    expect(scoresOf(await askAll(judge))).toEqual(completions.map(scoreOf))
    // Nobody waited, so nobody is told to.
    expect(notices.map((notice) => (notice.kind === 'warning' ? notice.message : notice.kind))).toEqual([
      expect.stringMatching(/^down, and completions stay unscored until it is back: .*ECONNREFUSED/),
      expect.stringMatching(/^back after \d+ s$/),
    ])
  })

  it('lets those who wait be called off', async () => {
    const { judge, server } = await setUp()
    await server.close()
    const gone = new AbortController()
    const paused = told(judge, 'paused')
    const asking = askAll(judge, completions, gone.signal)
    await paused
    gone.abort(new Error('enough'))
    expect(new Set(scoresOf(await asking))).toEqual(new Set(['enough']))
  })

  it('lets go of those who wait when it is closed', async () => {
    const { judge, server } = await setUp()
    await server.close()
    const paused = told(judge, 'paused')
    const asking = askAll(judge)
    await paused
    await judge.close()
    expect(new Set(scoresOf(await asking))).toEqual(new Set(['the judge was closed']))
  })

  it('ends the run when it comes back as another model', async () => {
    const { judge, server } = await setUp()
    const { port } = server
    await server.close()
    const paused = told(judge, 'paused')
    const asking = askAll(judge)
    await paused
    await comeBack(port, { model: { id: 'judge', root: 'org/another' } })
    const [first] = await asking
    const reason: unknown = first?.status === 'rejected' ? first.reason : undefined
    // Not a JudgeError: that would only leave completions unscored.
    expect(reason).toBeInstanceOf(PipelineError)
    expect(reason).not.toBeInstanceOf(JudgeError)
    expect(reason).toMatchObject({ boundary: 'judge', message: expect.stringContaining('is another one') })
  })
})

describe('a rate limit', () => {
  it('is obeyed by everybody, and costs no try', async () => {
    let limitedAt = 0
    const early: string[] = []
    const { judge } = await setUp(
      {
        behave: ({ completion, before }) => {
          if (limitedAt === 0) limitedAt = performance.now()
          // A timer may be a millisecond early.
          const waited = performance.now() - limitedAt >= 390
          if (before > 0 && !waited) early.push(completion)
          return waited ? 'verdict' : { status: 429, headers: { 'retry-after-ms': '400' } }
        },
      },
      { retries: 0, concurrency: 2 },
    )
    expect(scoresOf(await askAll(judge))).toEqual(completions.map(scoreOf))
    expect(early).toEqual([])
  })

  it('that may be tried again at once is waited for all the same, so that nobody asks without end', async () => {
    const server = await comeBack(0, { behave: () => ({ status: 429, headers: { 'retry-after': '0' } }) })
    const judge = await openLlmJudge(judgeConfig(server.url), { cwd: '/', env: {}, firstBackoffMs: 60_000 })
    onTestFinished(() => judge.close())
    const gone = new AbortController()
    const paused = told(judge, 'paused')
    const asking = askAll(judge, ['completion 1'], gone.signal)
    expect(await paused).toMatchObject({ reason: expect.stringMatching(/^its rate limit asks to wait \d\d s$/) })
    gone.abort(new Error('enough'))
    await asking
    expect(server.asked('completion 1')).toBe(1)
  })

  it('of a long time is told, and does not outlast a wish to stop', async () => {
    const limited = { status: 429, headers: { 'retry-after': '3600' } }
    const { judge } = await setUp({ behave: () => limited })
    const gone = new AbortController()
    const paused = told(judge, 'paused')
    const asking = askAll(judge, completions, gone.signal)
    expect(await paused).toMatchObject({ reason: 'its rate limit asks to wait 3600 s' })
    gone.abort(new Error('enough'))
    expect(new Set(scoresOf(await asking))).toEqual(new Set(['enough']))
  })

  it('of a long time leaves completions unscored where outages are skipped', async () => {
    const limited = { status: 429, headers: { 'retry-after': '3600' } }
    const { judge } = await setUp({ behave: () => limited }, { onOutage: 'skip', timeoutSeconds: 60 })
    await expect(judge.judge({ prompt, completion: 'completion 1' })).rejects.toThrow('rate limited: HTTP 429')
  })
})

describe('an endpoint that cannot be used from the start', () => {
  const open = (url: string, settings = {}, env = {}) => openLlmJudge(judgeConfig(url, settings), { cwd: '/', env })

  it('is said at once when nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await expect(open(`http://127.0.0.1:${port}/v1`)).rejects.toThrow(/cannot be asked: connect ECONNREFUSED/)
  })

  it('is said at once when it refuses, with what it says', async () => {
    const server = await comeBack(0, { probe: () => ({ status: 401 }) })
    await expect(open(server.url)).rejects.toThrow(/cannot be asked: HTTP 401 injected/)
  })

  it('is said at once when the key is missing', async () => {
    await expect(open('http://127.0.0.1:1/v1', { apiKeyEnv: 'JUDGE_KEY' })).rejects.toThrow(
      'judge.apiKeyEnv: the environment variable JUDGE_KEY is not set',
    )
    await expect(open('http://127.0.0.1:1/v1', { apiKeyFile: '/no/such/key' })).rejects.toThrow('/no/such/key')
  })

  it('needs no list of models', async () => {
    const { judge } = await setUp({ model: null })
    expect(scoresOf(await askAll(judge, ['completion 3']))).toEqual([0.03])
  })
})
