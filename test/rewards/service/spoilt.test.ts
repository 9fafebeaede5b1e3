import { assert as assertProperty, asyncProperty, constantFrom, tuple } from 'fast-check'
import { expect, it, vi } from 'vitest'
import { ErrorReply } from '../../../rewards/service/wire.ts'
import { goldCompletions } from '../../judge/samples.ts'
import { spoilt } from '../../support/spoilt.ts'
import { appWith, inline, item, labelOf } from './support.ts'

vi.setConfig({ testTimeout: 120_000 })

const gold = goldCompletions.n4
const bodies: readonly (readonly [path: string, body: unknown])[] = [
  ['/v1/score', { items: [item('a'), { id: 'b', prompt: inline('n4'), completion: gold }] }],
  ['/v1/openrlhf', { query: ['q'], prompts: ['p'], labels: [labelOf('n4')] }],
  ['/v1/slime', { prompt: 'p', response: gold, label: labelOf('n4') }],
  ['/v1/slime', { prompt: 'p', response: gold, label: inline('n4') }],
  ['/verify', { responses_create_params: { input: [] }, response: { output: [] }, label: labelOf('n4') }],
  ['/aggregate_metrics', { verify_responses: [{ reward: 1 }] }],
  ['/seed_session', { resources_session_id: 'x' }],
]

/** An answer; or a refusal that is short and says nothing of how the program is made. */
const isSound = (status: number, json: unknown): boolean => {
  const text = JSON.stringify(json)
  return (
    status === 200 ||
    (ErrorReply.safeParse(json).success && text.length < 20_000 && !/\.ts:|node_modules|Error:/.test(text))
  )
}

it('spoilt bodies get an answer or a refusal of the one shape, and the service goes on', async () => {
  const app = appWith()
  const call = constantFrom(...bodies).chain(([path, body]) => tuple(constantFrom(path), spoilt(body)))
  await assertProperty(
    asyncProperty(call, async ([path, body]) => {
      const response = await app.request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect([200, 400, 413, 422]).toContain(response.status)
      expect(isSound(response.status, await response.json())).toBe(true)
      expect((await app.request('/healthz')).status).toBe(200)
    }),
    { numRuns: 600 },
  )
})
