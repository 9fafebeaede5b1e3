import { Hono } from 'hono'
import { z } from 'zod'
import { check, readJson } from './read-body.ts'
import { messagesOf } from './read-prompt.ts'
import { inTurns, type ScoredItem } from './score-items.ts'
import type { Service } from './service.ts'
import { contributions, readSubstitute, rewardOf, share } from './trainer-reply.ts'
import { mostItems } from './wire.ts'

/** What OpenRLHF posts to `--reward.remote_url`: lists of equal length, empty ones included. */
export const OpenRlhfRequest = z
  .looseObject({
    query: z.array(z.string()).max(mostItems).describe('Prompt and answer as one text, special tokens included.'),
    prompts: z.array(z.string()).max(mostItems),
    labels: z
      .array(z.unknown())
      .max(mostItems)
      .describe('The prompt of each sample: its id, an object, or its JSON text.'),
  })
  .refine(({ query, prompts, labels }) => query.length === prompts.length && query.length === labels.length, {
    message: 'query, prompts and labels must have the same length',
  })

export const OpenRlhfReply = z.strictObject({
  rewards: z.array(z.number()).describe('R.'),
  scores: z.array(z.number()).describe('R as a share of its maximum.'),
  extra_logs: z.record(z.string(), z.array(z.number())).describe('Contribution of each component, and `unscored`.'),
})

interface Sample {
  readonly query: string
  readonly prompt: string
  readonly label: unknown
}

/**
 * The answer in a query, or undefined. Tokenizers may put a token before the prompt, never into it; a prompt that was cut
 * to fit is not found, and a policy that saw half a prompt should not be paid for its answer.
 */
const answerIn = ({ query, prompt }: Sample): string | undefined => {
  const at = query.indexOf(prompt)
  return at === -1 ? undefined : query.slice(at + prompt.length)
}

const scoreSample = async (service: Service, sample: Sample): Promise<ScoredItem> => {
  const answer = answerIn(sample)
  if (answer === undefined) {
    return service.score({ problem: 'does not hold its prompt: the prompt was cut to fit the context' }, '', 'query')
  }
  const reading = service.prompts.readLabel(sample.label, () => messagesOf(sample.prompt))
  return service.score(reading, service.cutStopTokens(answer), 'label')
}

/** OpenRLHF's remote reward. `?logs=none` leaves the component values out, for versions that cannot take them. */
export const openRlhfRoutes = (service: Service): Hono =>
  new Hono().post('/v1/openrlhf', async (c) => {
    const substitute = readSubstitute(c.req.query('unscored'))
    const { query, prompts, labels } = check(OpenRlhfRequest, (await readJson(c)).value)
    const samples = query.map((text, i) => ({ query: text, prompt: prompts[i] ?? '', label: labels[i] }))
    const items = await inTurns(samples, (sample) => scoreSample(service, sample))
    const { scorer } = service
    const rewards = items.map((item, i) => rewardOf(item, substitute, `[${i}]`))
    const parts = items.map((item) => contributions(scorer, item))
    const logs = {
      ...Object.fromEntries(scorer.names.map((name) => [name, parts.map((part) => part[name] ?? 0)])),
      unscored: items.map(({ total }) => (total === null ? 1 : 0)),
    }
    return c.json({
      rewards,
      scores: rewards.map((reward) => share(scorer, reward)),
      extra_logs: c.req.query('logs') === 'none' ? {} : logs,
    } satisfies z.infer<typeof OpenRlhfReply>)
  })
