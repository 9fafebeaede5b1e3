import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { JudgeError } from '../../../judge/judge.ts'
import { type Behaviour, scoreOf } from '../../support/judge-server.ts'
import { samplePrompts } from '../samples.ts'
import { setUp } from './open-judge.ts'

const number = 10_000
const faults: readonly Behaviour[] = [
  'garble',
  'swap',
  'half',
  'cut',
  'other_model',
  { status: 503 },
  { status: 429, headers: { 'retry-after-ms': '1' } },
]

/** The same faults each time: a tenth of all completions, each with a fault of its own. */
const faultOf = (completion: string): Behaviour | undefined => {
  const hash = createHash('sha256').update(completion).digest()
  return hash.readUInt32LE(0) % 10 === 0 ? faults[hash.readUInt8(4) % faults.length] : undefined
}
/** Of those that garble, some do so for ever. */
const isHopeless = (completion: string): boolean => faultOf(completion) === 'garble' && Number(completion.slice(-1)) < 5

it('loses none of 10,000 questions and answers none twice while a tenth of them meets a fault', async () => {
  const { judge, server } = await setUp(
    {
      behave: ({ completion, before }) => {
        const fault = before === 0 || isHopeless(completion) ? faultOf(completion) : undefined
        return fault ?? 'verdict'
      },
    },
    { concurrency: 64, retries: 2, breaker: { failures: 20, pauseSeconds: 0.02 } },
  )
  const completions = Array.from({ length: number }, (_, i) => `completion ${i}`)
  const results = await Promise.allSettled(
    completions.map((completion) => judge.judge({ prompt: samplePrompts.n1, completion })),
  )

  const wrong = results.filter((result, i) => {
    const completion = completions[i] ?? ''
    if (isHopeless(completion)) return !(result.status === 'rejected' && result.reason instanceof JudgeError)
    return !(result.status === 'fulfilled' && result.value.score === scoreOf(completion))
  })
  expect(wrong).toEqual([])

  const expected = completions.map((completion) =>
    isHopeless(completion) ? 3 : faultOf(completion) === undefined ? 1 : 2,
  )
  expect(completions.map((completion) => server.asked(completion))).toEqual(expected)
  const injected = completions.filter((completion) => faultOf(completion) !== undefined)
  const hopeless = completions.filter(isHopeless)
  expect(injected.length / number).toBeCloseTo(0.1, 1)
  expect(hopeless.length).toBeGreaterThan(0)
  const counts = judge.counts?.()
  expect(counts?.requests).toBe(number + injected.length + hopeless.length)
  expect(Object.values(counts?.failures ?? {}).reduce((sum, one) => sum + one, 0)).toBe(
    injected.length + 2 * hopeless.length,
  )
  expect(counts?.retries).toBe(injected.length + hopeless.length)
}, 900_000)
