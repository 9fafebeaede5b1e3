import { Hono } from 'hono'
import { z } from 'zod'
import { check, readJson } from './read-body.ts'
import { messagesOf } from './read-prompt.ts'
import type { Service } from './service.ts'
import { contributions, readSubstitute, rewardOf, share } from './trainer-reply.ts'

/** What slime and miles post to `--rm-url`: one sample. */
export const SlimeRequest = z.looseObject({
  prompt: z.union([z.string(), z.array(z.unknown())]).describe('The rendered prompt, or its messages.'),
  response: z.string().describe('The answer; the stop token may still be in it.'),
  label: z.unknown().optional().describe('The prompt of the sample: its id, an object, or its JSON text.'),
})

/** With `?reply=object`, for `--reward-key reward`; without it the reply is the number R alone. */
export const SlimeReply = z
  .object({ reward: z.number(), share: z.number(), unscored: z.number() })
  .catchall(z.number())
  .describe('R, R as a share of its maximum, 1 where there was no reward, and the contribution of each component.')

/** slime's `remote_rm`. */
export const slimeRoutes = (service: Service): Hono =>
  new Hono().post('/v1/slime', async (c) => {
    const substitute = readSubstitute(c.req.query('unscored'))
    const { prompt, response, label } = check(SlimeRequest, (await readJson(c)).value)
    const reading = service.prompts.readLabel(label, () => messagesOf(prompt))
    const item = await service.score(reading, service.cutStopTokens(response), 'label')
    const reward = rewardOf(item, substitute)
    if (c.req.query('reply') !== 'object') return c.json(reward)
    const { scorer } = service
    return c.json({
      reward,
      share: share(scorer, reward),
      unscored: item.total === null ? 1 : 0,
      ...contributions(scorer, item),
    } satisfies z.infer<typeof SlimeReply>)
  })
