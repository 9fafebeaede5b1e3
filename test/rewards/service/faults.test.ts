import { expect, it, vi } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import type { Judge } from '../../../judge/judge.ts'
import { appWith, item, patientJudge, post } from './support.ts'

const failingWith = (error: Error) => {
  const problems: string[] = []
  const judge: Judge = {
    name: 'broken',
    judge: async () => {
      throw error
    },
  }
  const app = appWith({ judge, onProblem: (text, cause) => problems.push(`${text} | ${String(cause)}`) })
  return { app, problems }
}

it('tells a fault of the program to the log, and the client only that there was one', async () => {
  const { app, problems } = failingWith(new TypeError('x is undefined'))
  const { status, json } = await post(app, '/v1/score', { items: [item('a')] })
  expect(status).toBe(500)
  expect(json).toMatchObject({ error: { code: 'internal', message: 'the service failed on this request' } })
  expect(problems).toStrictEqual(['500 POST /v1/score: the service failed on this request | TypeError: x is undefined'])
})

it('tells an expected failure that is nobody’s reward to the client too', async () => {
  const { app } = failingWith(new PipelineError('judge', 'another model answers now', { remedy: 'Start again.' }))
  const { status, json } = await post(app, '/v1/score', { items: [item('a')] })
  expect(status).toBe(500)
  expect(json).toMatchObject({ error: { message: 'another model answers now', remedy: 'Start again.' } })
})

it('answers the next request as if nothing had been', async () => {
  const { app } = failingWith(new TypeError('x is undefined'))
  await post(app, '/v1/score', { items: Array.from({ length: 200 }, (_, i) => item(String(i))) })
  expect((await post(app, '/v1/score', { items: [] })).status).toBe(200)
})

it('does not queue without end while the judge is slow: what is too much is to come again later', async () => {
  const { judge, asked, answer } = patientJudge()
  const app = appWith({ judge, maxWaiting: 2 })
  const first = post(app, '/v1/score', { items: [item('a'), item('b', 'n2')] })
  await asked
  const refused = await post(app, '/v1/score', { items: [item('c', 'n3')] })
  expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([503, '5'])
  expect(refused.json).toMatchObject({ error: { code: 'busy' } })
  answer()
  expect((await first).status).toBe(200)
  const again = post(app, '/v1/score', { items: [item('c', 'n3')] })
  const done = again.then(() => true)
  await vi.waitFor(async () => {
    answer()
    expect(await Promise.race([done, Promise.resolve(false)])).toBe(true)
  })
  expect((await again).status).toBe(200)
})
