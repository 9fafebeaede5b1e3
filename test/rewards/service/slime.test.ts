import { describe, expect, it } from 'vitest'
import { referenceJudge } from '../../../judge/reference.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { SlimeReply } from '../../../rewards/service/routes-slime.ts'
import { goldCompletions, samplePrompts } from '../../judge/samples.ts'
import { appWith, failingOn, labelOf, post } from './support.ts'

/** The body of slime's `remote_rm`: the prompt as text, or as messages where no chat template is applied. */
const body = (label: unknown, prompt: unknown = 'rendered prompt') => ({
  prompt,
  response: `${goldCompletions.n4}<|im_end|>`,
  label,
})

describe("slime's remote_rm", () => {
  it('answers one number', async () => {
    const { status, json } = await post(
      appWith({ judge: referenceJudge }),
      '/v1/slime',
      body(labelOf('n4'), samplePrompts.n4.messages),
    )
    expect(status).toBe(200)
    expect(json).toBeCloseTo(5.6, 9)
  })

  it('answers an object for --reward-key, all plain numbers, always the same keys', async () => {
    const scored = await post(
      appWith({ judge: referenceJudge }),
      '/v1/slime?reply=object',
      body(labelOf('n4'), samplePrompts.n4.messages),
    )
    const unscored = await post(
      appWith({ judge: failingOn('mail') }),
      '/v1/slime?reply=object&unscored=0',
      body(labelOf('n4')),
    )
    const keys = ['reward', 'share', 'unscored', ...rewardNames]
    for (const { json } of [scored, unscored]) expect(Object.keys(SlimeReply.parse(json))).toStrictEqual(keys)
    expect(scored.json).toMatchObject({ reward: expect.closeTo(5.6, 9), share: 1, unscored: 0, judge: 1 })
    expect(unscored.json).toMatchObject({ reward: 0, unscored: 1, judge: 0 })
  })

  it('gives the judge what the prompt showed, as text or as messages', async () => {
    const seen: string[][] = []
    const judge = {
      name: 'seeing',
      judge: async ({ prompt }: { prompt: { messages: readonly { role: string; content: string }[] } }) => {
        seen.push(prompt.messages.map(({ role, content }) => `${role}: ${content}`))
        return { score: 1, reason: '', model: 'seeing', cached: false, latencyMs: 0 }
      },
    }
    const app = appWith({ judge })
    const parts = [
      { role: 'developer', content: [{ type: 'input_text', text: 'be brief' }] },
      { role: 'user', content: 'hi' },
    ]
    await post(app, '/v1/slime', body(labelOf('n4'), 'rendered'))
    await post(app, '/v1/slime', body(labelOf('n4'), [{ role: 'user', content: 'hi' }]))
    await post(app, '/v1/slime', body(labelOf('n4'), parts))
    expect(seen).toStrictEqual([
      ['system: ', 'user: rendered'],
      ['system: ', 'user: hi'],
      ['system: be brief', 'user: hi'],
    ])
  })

  it('answers a judge that fails with an error that is tried again', async () => {
    const { status, json } = await post(appWith({ judge: failingOn('mail') }), '/v1/slime', body(labelOf('n4')))
    expect(status).toBe(503)
    expect(json).toMatchObject({ error: { code: 'unscored' } })
  })

  it('refuses a label that is no prompt', async () => {
    const { status, json } = await post(appWith(), '/v1/slime', body('42'))
    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { message: expect.stringContaining('label: must be the id of a prompt') } })
  })
})
