import { describe, expect, it } from 'vitest'
import { referenceJudge } from '../../../judge/reference.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { OpenRlhfReply } from '../../../rewards/service/routes-openrlhf.ts'
import { goldCompletions, samplePrompts } from '../../judge/samples.ts'
import { appWith, failingOn, labelOf, paper, post, structural } from './support.ts'

const rendered = `${samplePrompts.n1.messages
  .map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`)
  .join('')}<|im_start|>assistant\n`

/** The body of `SingleTurnAgentExecutor._fetch_rewards_via_http`: one sample, decoded with its special tokens. */
const body = (label: unknown, answer = goldCompletions.n1) => ({
  query: [`${rendered}${answer}<|im_end|>`],
  prompts: [rendered],
  labels: [label],
})

const ask = async (app: ReturnType<typeof appWith>, sent: unknown, query = '') => {
  const { status, json } = await post(app, `/v1/openrlhf${query}`, sent)
  expect(status).toBe(200)
  return OpenRlhfReply.parse(json)
}

describe('the remote reward of OpenRLHF', () => {
  it('finds the answer behind the prompt, without the stop token', async () => {
    const reply = await ask(appWith({ judge: referenceJudge }), body(labelOf('n1')))
    expect(reply.rewards).toStrictEqual([expect.closeTo(5.6, 9)])
    expect(reply.scores).toStrictEqual([expect.closeTo(1, 9)])
    expect(Object.keys(reply.extra_logs)).toStrictEqual([...rewardNames, 'unscored'])
    expect(reply.extra_logs).toMatchObject({ strict_format: [0.5], judge: [1], unscored: [0] })
  })

  it.each([
    ['JSON text', JSON.stringify(labelOf('n1'))],
    ['the id of a prompt in the pool', samplePrompts.n1.id],
    ['an object with that id', { id: samplePrompts.n1.id }],
  ])('takes %s as label', async (_, label) => {
    const findPrompt = (id: string) => (id === samplePrompts.n1.id ? samplePrompts.n1 : undefined)
    const reply = await ask(appWith({ judge: referenceJudge, findPrompt }), body(label))
    expect(reply.rewards).toStrictEqual([expect.closeTo(5.6, 9)])
  })

  it('answers the empty lists that further servers get, with the same keys', async () => {
    const empty = await ask(appWith(), { query: [], prompts: [], labels: [] })
    expect(empty).toStrictEqual({
      rewards: [],
      scores: [],
      extra_logs: Object.fromEntries([...structural, 'unscored'].map((name) => [name, []])),
    })
  })

  it('takes the whole batch that older versions send', async () => {
    const both = {
      query: [`${rendered}${goldCompletions.n1}`, `${rendered}nothing</s>`],
      prompts: [rendered, rendered],
      labels: [labelOf('n1'), JSON.stringify(labelOf('n1'))],
    }
    expect(await ask(appWith(), both)).toMatchObject({ rewards: [expect.closeTo(4.6, 9), 0], scores: [1, 0] })
  })

  it('leaves the component values out where they cannot be taken', async () => {
    expect((await ask(appWith(), body(labelOf('n1')), '?logs=none')).extra_logs).toStrictEqual({})
  })

  it('keeps scores inside [0, 1] when R is below zero', async () => {
    const { rewards, scores } = await ask(appWith(), body(labelOf('n1'), `</answer>${'x'.repeat(5000)}`))
    expect(rewards).toStrictEqual([-0.5])
    expect(scores).toStrictEqual([0])
  })

  it('finds the answer behind a token that the tokenizer put before the prompt', async () => {
    const sent = body(labelOf('n1'))
    const { rewards } = await ask(appWith(), { ...sent, query: sent.query.map((text) => `<s>${text}`) })
    expect(rewards).toStrictEqual([expect.closeTo(4.6, 9)])
  })

  it('refuses a prompt that was cut at its beginning', async () => {
    const sent = body(labelOf('n1'))
    const { status, json } = await post(appWith(), '/v1/openrlhf', {
      ...sent,
      query: sent.query.map((text) => text.slice(20)),
    })
    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { message: expect.stringContaining('query[0]: does not hold its prompt') } })
  })

  it.each([
    ['no label', null],
    ['a label that is no prompt', 'Y'],
    ['a label without facts', { node: 'n1' }],
  ])('refuses %s, whatever substitute was chosen', async (_, label) => {
    const { status, json } = await post(appWith(), '/v1/openrlhf?unscored=0', body(label))
    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { code: 'invalid_body', message: expect.stringContaining('label[0]') } })
  })

  it('refuses lists of different lengths', async () => {
    const { status, json } = await post(appWith(), '/v1/openrlhf', { ...body(labelOf('n1')), labels: [] })
    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { message: expect.stringContaining('same length') } })
  })

  describe('with a judge that fails', () => {
    const app = () => appWith({ rewards: paper, judge: failingOn('payments') })

    it('answers with an error that is tried again, never with a number', async () => {
      const { status, headers, json } = await post(app(), '/v1/openrlhf', body(labelOf('n1')))
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toBe('5')
      expect(json).toMatchObject({ error: { code: 'unscored', message: expect.stringContaining('endpoint is down') } })
    })

    it('answers with the number that the user chose, and says so', async () => {
      const reply = await ask(app(), body(labelOf('n1')), '?unscored=1.5')
      expect(reply.rewards).toStrictEqual([1.5])
      expect(reply.extra_logs).toMatchObject({ unscored: [1], judge: [0], json_valid: [0] })
    })

    it.each(['', 'NaN', 'none', 'Infinity'])('refuses %j as that number', async (value) => {
      const { status } = await post(app(), `/v1/openrlhf?unscored=${value}`, body(labelOf('n1')))
      expect(status).toBe(422)
    })
  })
})
