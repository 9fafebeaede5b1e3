import { describe, expect, it } from 'vitest'
import { JudgeError } from '../../../judge/judge.ts'
import { type Behaviour, scoreOf } from '../../support/judge-server.ts'
import { samplePrompts } from '../samples.ts'
import { setUp } from './open-judge.ts'

const prompt = samplePrompts.n1
const completion = 'completion 42'

/** Misbehaves the first time that a completion is asked about, then answers. */
const once = (behaviour: Behaviour) => ({
  behave: ({ before }: { before: number }): Behaviour => (before === 0 ? behaviour : 'verdict'),
})
const always = (behaviour: Behaviour) => ({ behave: (): Behaviour => behaviour })

describe('a judge that fails once', () => {
  it.each<[string, Behaviour, string]>([
    ['garbles', 'garble', 'garbled'],
    ['gives the verdict of another completion', 'swap', 'swapped'],
    ['lets another model answer', 'other_model', 'swapped'],
    ['closes the connection half-way', 'half', 'connection'],
    ['closes the connection at once', 'cut', 'connection'],
    ['is overloaded', { status: 503 }, 'server_error'],
    ['limits the rate', { status: 429, headers: { 'retry-after': '0' } }, 'rate_limited'],
    ['limits the rate without saying for how long', { status: 429 }, 'rate_limited'],
  ])('because it %s is asked again, and its own verdict counts', async (_, behaviour, kind) => {
    const { judge, server } = await setUp(once(behaviour))
    // Something to swap with.
    await judge.judge({ prompt, completion: 'completion 7' })
    expect(await judge.judge({ prompt, completion })).toMatchObject({ score: 0.42, cached: false, model: 'judge' })
    expect(server.asked(completion)).toBe(2)
    // Both completions failed once.
    expect(judge.counts?.()).toMatchObject({ requests: 4, retries: 2, failures: { [kind]: 2 } })
  })

  it('is late is asked again after its deadline, not after somebody else’s', async () => {
    const { judge } = await setUp(once('hang'), { timeoutSeconds: 2 })
    expect((await judge.judge({ prompt, completion })).score).toBe(0.42)
    // On a machine that is very busy an answer may be late, too.
    expect(Object.keys(judge.counts?.().failures ?? {})).toEqual(['timed_out'])
  })
})

describe('a judge that keeps failing', () => {
  it.each<[string, Behaviour, RegExp]>([
    ['garbling', 'garble', /no verdict after 3 tries: garbled: it has not exactly one verdict/],
    ['swapping', 'swap', /no verdict after 3 tries: swapped: its verdict has another id/],
    ['being another model', 'other_model', /swapped: judge-mini answered instead of judge/],
  ])('by %s gives no score', async (_, behaviour, message) => {
    const { judge, server } = await setUp(always(behaviour), { retries: 2 })
    const asking = judge.judge({ prompt, completion })
    await expect(asking).rejects.toThrow(message)
    await expect(asking).rejects.toBeInstanceOf(JudgeError)
    expect(server.asked(completion)).toBe(3)
  })

  it.each<[string, Behaviour]>([
    ['a request that it does not accept', { status: 400 }],
    ['a wrong key', { status: 401 }],
    ['an account without money', { status: 429, code: 'insufficient_quota' }],
  ])('because of %s is not asked again', async (_, behaviour) => {
    const { judge, server } = await setUp(always(behaviour))
    await expect(judge.judge({ prompt, completion })).rejects.toThrow(/no verdict after 1 try: refused: HTTP 4/)
    expect(server.asked(completion)).toBe(1)
  })

  it('leaves no failure behind: the same question is asked anew', async () => {
    let good = false
    const { judge } = await setUp({ behave: () => (good ? 'verdict' : 'garble') }, { retries: 0 })
    await expect(judge.judge({ prompt, completion })).rejects.toThrow('garbled')
    good = true
    expect(await judge.judge({ prompt, completion })).toMatchObject({ score: 0.42, cached: false })
  })
})

describe('one completion that the endpoint cannot bear', () => {
  it.each(['pause', 'skip'])('is left unscored, and the others go on (%s)', async (onOutage) => {
    const behave = (asked: { completion: string }): Behaviour =>
      asked.completion === completion ? { status: 500 } : 'verdict'
    const { judge } = await setUp({ behave }, { onOutage, retries: 1 })
    const others = Array.from({ length: 8 }, (_, i) => `completion ${i}`)
    const results = await Promise.allSettled(
      [completion, ...others].map((one) => judge.judge({ prompt, completion: one })),
    )
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')])
    expect(results.flatMap((one) => (one.status === 'fulfilled' ? [one.value.score] : []))).toEqual(others.map(scoreOf))
  })

  it('is given up even when there is nobody else whose success could tell', async () => {
    const { judge, server, notices } = await setUp(always({ status: 500 }), { retries: 1 })
    await expect(judge.judge({ prompt, completion })).rejects.toThrow('server error: HTTP 500')
    // Two alarms, each answered by a probe that succeeds.
    expect(notices.map(({ kind }) => kind)).toEqual(['paused', 'continued', 'paused', 'continued'])
    expect(server.asked(completion)).toBe(6)
  })
})
