import { z } from 'zod'
import { NodeId } from '../../../data/records/node.ts'

/** What a reviewer says of a completion; `none` takes back what was said. */
export const Mark = z.enum(['hack', 'fine', 'none'])
export type Mark = z.infer<typeof Mark>

/** Names one completion of a run: a step that a later attempt did again has others. */
export const CompletionName = z.strictObject({
  attempt: z.int().min(0),
  step: z.int().min(0),
  group: z.int().min(0),
  sample: z.int().min(0),
})
export type CompletionName = z.infer<typeof CompletionName>

/** What the page sends. */
export const LabelRequest = z.strictObject({ ...CompletionName.shape, label: Mark })

/**
 * A line of labels.jsonl: one mark, the last one of a completion counts. The completion is in it, since a run may keep
 * the rollouts of its latest steps only.
 */
export const LabelRecord = z.strictObject({
  at: z.iso.datetime(),
  ...CompletionName.shape,
  label: Mark,
  node: NodeId,
  promptId: z.string(),
  /** Null: it has none. */
  total: z.number().nullable(),
  judge: z.number().nullable(),
  completion: z.string(),
})
export type LabelRecord = z.infer<typeof LabelRecord>
