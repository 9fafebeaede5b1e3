import { Hono } from 'hono'
import { z } from 'zod'
import { ServiceError } from './errors.ts'
import { aggregate, VerifyResponses } from './gym-metrics.ts'
import { rawMembers } from './raw-members.ts'
import { check, readJson } from './read-body.ts'
import { messagesOf } from './read-prompt.ts'
import type { ScoredItem } from './score-items.ts'
import type { Service } from './service.ts'
import { contributions } from './trainer-reply.ts'

const OutputItem = z.looseObject({ type: z.string().optional(), content: z.unknown().optional() })

/** What NeMo-Gym posts to `/verify`: the data set's row with the request to the model and its response. */
export const VerifyRequest = z.looseObject({
  responses_create_params: z.looseObject({ input: z.unknown().optional() }),
  response: z.looseObject({ output: z.array(OutputItem) }),
  label: z.unknown().optional().describe('The prompt of the row: its id, an object, or its JSON text.'),
  verifier_metadata: z.unknown().optional().describe('The same, for rows that keep it there.'),
})

export const VerifyReply = z
  .looseObject({
    responses_create_params: z.unknown().describe('As it was sent, character by character.'),
    response: z.unknown().describe('As it was sent, character by character.'),
    reward: z.number(),
    reward_components: z.record(z.string(), z.number()).describe('Contributions; they sum to the reward.'),
    mask_sample: z.boolean().describe('True where there is no reward: the sample is to be left out.'),
  })
  .describe('Each contribution stands at the top level too, null where there is no reward.')

const SeedRequest = z.looseObject({ resources_session_id: z.string().optional() })

interface ContentPart {
  readonly type?: unknown
  readonly text?: unknown
}

/** The text of a response: its messages, not its reasoning or its tool calls. */
const textOf = ({ output }: z.infer<typeof VerifyRequest>['response']): string =>
  output
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => (Array.isArray(content) ? (content as readonly (ContentPart | null)[]) : []))
    .map((part) => (part?.type === 'output_text' && typeof part.text === 'string' ? part.text : ''))
    .join('')

/** How this protocol says that a sample has no reward: it is set aside in evaluation, and left out of the loss. */
const failure = (reason: string) => ({
  failure_kind: 'judge_failed',
  failure_reason: reason,
  _ng_failure_class: 'judge_failed',
  _ng_failure_judge_error: reason,
  instance_config: { mask_sample: true },
})

const verdictOf = (service: Service, item: ScoredItem) => {
  const parts = contributions(service.scorer, item)
  const shown = item.total === null ? Object.fromEntries(Object.keys(parts).map((name) => [name, null])) : parts
  return {
    reward: item.total ?? 0,
    reward_components: parts,
    mask_sample: item.total === null,
    ...shown,
    ...(item.unscored === null ? {} : failure(`${item.unscored.component}: ${item.unscored.reason}`)),
  }
}

/** The echo is copied from the request's text: the trainer reads token ids and log-probs from it. */
const withEcho = (text: string, verdict: object): string => {
  const members = rawMembers(text)
  const echo = ['responses_create_params', 'response'].map((key) => `"${key}":${members.get(key) ?? 'null'}`)
  return `{${echo.join(',')},${JSON.stringify(verdict).slice(1)}`
}

/** A resources server of NeMo-Gym: NeMo-RL, verifiers with its nemo_gym task set, and axolotl speak to it too. */
export const gymRoutes = (service: Service): Hono =>
  new Hono()
    .post('/seed_session', async (c) => {
      // No session is kept; newer callers choose an id and want it confirmed.
      const { resources_session_id: id } = check(SeedRequest, (await readJson(c)).value)
      return c.json(id === undefined ? {} : { resources_session_id: id })
    })
    .post('/close_session', async (c) => {
      const { resources_session_id: id } = check(SeedRequest, (await readJson(c)).value)
      return c.json(id === undefined ? {} : { resources_session_id: id })
    })
    .post('/verify', async (c) => {
      const { text, value } = await readJson(c)
      const row = check(VerifyRequest, value)
      const reading = service.prompts.readLabel(row.label ?? row.verifier_metadata, () =>
        messagesOf(row.responses_create_params.input),
      )
      const item = await service.score(reading, service.cutStopTokens(textOf(row.response)), 'label')
      if (item.unscored?.component === 'label') throw new ServiceError('invalid_body', `label: ${item.unscored.reason}`)
      return c.body(withEcho(text, verdictOf(service, item)), 200, { 'content-type': 'application/json' })
    })
    .post('/aggregate_metrics', async (c) => {
      const { verify_responses: responses } = check(VerifyResponses, (await readJson(c)).value)
      return c.json(aggregate(responses, service.scorer.names))
    })
    .get('/reverify_mode', (c) => c.json('stateless'))
