import { z } from 'zod'
import { ComponentScore } from '../../data/records/reward.ts'
import { Message, PromptFacts, Target } from '../../data/records/prompt.ts'
import { profiles } from '../evidence.ts'
import { refusals, type RefusalCode } from './errors.ts'

const nodeName = z.string().describe('Id (n1 … n5) or tag (classify_drift …) of the node.')

/** A prompt that travels with the request: a line of a pool, of which the id, split and origin may be left out. */
const InlinePrompt = z
  .looseObject({
    node: nodeName,
    messages: z.array(Message).min(2).describe('The conversation up to the completion: system, user, …'),
    facts: PromptFacts.describe('What the prompt shows, in structured form. `node` may be left out.'),
    target: Target.nullish().describe('Ground truth, when it is known. `node` may be left out.'),
  })
  .describe('A prompt in the request itself.')

const PromptReference = z
  .strictObject({ id: z.string().describe('Id of a prompt of the pool that the service has opened.') })
  .describe('A prompt that the service knows.')

/** What a client sends for one completion. Checked item by item, so that one bad item does not spoil the others. */
export const ScoreItem = z.strictObject({
  id: z.string().describe('Any name; the result carries it.'),
  prompt: z.union([InlinePrompt, PromptReference]),
  completion: z.string().describe('Decoded text, without the end-of-turn token.'),
})

/** Items of one request: beyond this the reply would outgrow the request many times over. */
export const mostItems = 8192

export const ScoreRequest = z.strictObject({ items: z.array(ScoreItem).max(mostItems) })

const UnscoredReason = z.strictObject({
  component: z.string().describe('The component that failed, or the part of the item that cannot be read.'),
  reason: z.string(),
})

export const ScoreResult = z.strictObject({
  id: z.string().nullable().describe('The id of the item; null where it had none.'),
  total: z.number().nullable().describe('R; null when there is no reward. Null is not zero.'),
  components: z
    .record(z.string(), ComponentScore.nullable())
    .describe('One entry for each component, whatever happened; null where there is no score.'),
  unscored: UnscoredReason.nullable(),
})
export type ScoreResult = z.infer<typeof ScoreResult>

export const ScoreReply = z.strictObject({
  profile: z.enum(profiles),
  maximum: z.number().describe('Largest R under this configuration.'),
  results: z.array(ScoreResult).describe('In the order of the items.'),
})
export type ScoreReply = z.infer<typeof ScoreReply>

export const ComponentsReply = z.strictObject({
  profile: z.enum(profiles),
  maximum: z.number(),
  judge: z.string().nullable().describe('Name of the judge; null when there is none, and no judge component.'),
  components: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      weight: z.number().describe('Maximum of the weighted value, and the factor from raw to weighted.'),
      range: z.tuple([z.number(), z.number()]).describe('Range of the raw value.'),
      needs: z.enum(['completion', 'verdict']),
    }),
  ),
})

export const Health = z.strictObject({ status: z.literal('ok') })

const codes = Object.keys(refusals) as [RefusalCode, ...RefusalCode[]]

export const ErrorReply = z.strictObject({
  error: z.strictObject({
    code: z.enum(codes),
    message: z.string(),
    remedy: z.string().nullable(),
    issues: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  }),
})
