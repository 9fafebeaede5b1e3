import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLlmJudge } from '../../../judge/llm/open.ts'
import { JudgeServer, scoreOf } from '../../support/judge-server.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'
import { samplePrompts } from '../samples.ts'
import { judgeConfig, openJudge, setUp } from './open-judge.ts'

const prompt = samplePrompts.n1
const completion = 'completion 42'

describe('an equal question', () => {
  it('is asked once, by whoever asks it at the same time or later', async () => {
    const { judge, server } = await setUp()
    const together = await Promise.all([1, 2, 3].map(() => judge.judge({ prompt, completion })))
    const later = await judge.judge({ prompt, completion })
    expect([...together, later].map(({ score, cached }) => [score, cached])).toEqual([
      [0.42, false],
      [0.42, true],
      [0.42, true],
      [0.42, true],
    ])
    expect(server.asked(completion)).toBe(1)
    expect(judge.counts?.()).toMatchObject({ requests: 1, joined: 2, memoryHits: 1, diskHits: 0, promptTokens: 100 })
  })

  it('is another one for another prompt', async () => {
    const { judge, server } = await setUp()
    await judge.judge({ prompt, completion })
    await judge.judge({ prompt: samplePrompts.n2, completion })
    expect(server.asked(completion)).toBe(2)
  })

  it('is not asked again by another run that shares the directory, unless the endpoint serves something else', async () => {
    const cwd = temporaryDirectory()
    const server = await JudgeServer.start()
    onTestFinished(() => server.close())
    const config = judgeConfig(server.url, { cache: { dir: 'verdicts' } })
    const [first, second] = [await openJudge(config, cwd), await openJudge(config, cwd)]
    await first.judge.judge({ prompt, completion })
    expect(await second.judge.judge({ prompt, completion })).toMatchObject({ score: 0.42, cached: true })
    expect(second.judge.counts?.()).toMatchObject({ requests: 0, diskHits: 1 })

    const other = await JudgeServer.start({ model: { id: 'judge', root: 'org/another' } })
    onTestFinished(() => other.close())
    const third = await openJudge(judgeConfig(other.url, { cache: { dir: 'verdicts' } }), cwd)
    expect(await third.judge.judge({ prompt, completion })).toMatchObject({ cached: false })
  })

  it('goes on for those who still want it when one of them leaves', async () => {
    let answer = (): void => undefined
    const held = new Promise<'verdict'>((resolve) => {
      answer = () => resolve('verdict')
    })
    let arrived = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const { judge } = await setUp({
      behave: () => {
        arrived()
        return held
      },
    })
    const gone = new AbortController()
    const leaving = judge.judge({ prompt, completion, signal: gone.signal })
    const staying = judge.judge({ prompt, completion })
    await asked
    gone.abort(new Error('left'))
    await expect(leaving).rejects.toThrow('left')
    answer()
    expect(await staying).toMatchObject({ score: 0.42 })
  })
})

describe('a request', () => {
  it('is one of as many as the config allows at a time', async () => {
    const { judge, server } = await setUp({}, { concurrency: 3 })
    const completions = Array.from({ length: 20 }, (_, i) => `completion ${i}`)
    const verdicts = await Promise.all(completions.map((one) => judge.judge({ prompt, completion: one })))
    expect(verdicts.map(({ score }) => score)).toEqual(completions.map(scoreOf))
    expect(server.mostOpen).toBeLessThanOrEqual(3)
  })

  it('asks at temperature 0, with the limit of tokens and the key that the config names', async () => {
    const server = await JudgeServer.start()
    onTestFinished(() => server.close())
    const file = join(temporaryDirectory(), 'key')
    writeFileSync(file, 'first-key\n')
    const config = judgeConfig(server.url, { apiKeyFile: file, maxTokens: 99 })
    // A key that the config does not name is nobody's.
    const judge = await openLlmJudge(config, { cwd: '/', env: { OPENAI_API_KEY: 'not this one' } })
    onTestFinished(() => judge.close())
    await judge.judge({ prompt, completion })
    writeFileSync(file, 'second-key')
    await judge.judge({ prompt, completion: 'completion 43' })
    expect(server.questions.map(({ authorization }) => authorization)).toEqual([
      'Bearer first-key',
      'Bearer second-key',
    ])
    expect(server.questions[0]?.body).toMatchObject({ model: 'judge', temperature: 0, max_tokens: 99 })
  })
})
