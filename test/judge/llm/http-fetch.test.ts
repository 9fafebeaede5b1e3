import { afterEach, describe, expect, it } from 'vitest'
import { httpFetch } from '../../../judge/llm/http-fetch.ts'
import { fakeServer, type Answer } from '../../support/fake-server.ts'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const textOf = async (answer: Answer): Promise<string> => {
  const server = await fakeServer(() => answer)
  open.push(server)
  const response = await httpFetch(server.url, { headers: { authorization: 'Bearer password' } })
  return await response.text()
}

describe('the key that a judge was sent', () => {
  it.each<[string, Answer]>([
    ['a refusal', { status: 401, json: { error: 'not with password' } }],
    ['an answer that is not what was asked for', { text: 'not with password' }],
  ])('is taken out of %s', async (_, answer) => {
    expect(await textOf(answer)).toContain('not with ***')
  })

  it('stays in a verdict, whose words are the model’s', async () => {
    expect(await textOf({ json: { reason: 'shows a password' } })).toBe('{"reason":"shows a password"}')
  })
})
