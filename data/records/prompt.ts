import { z } from 'zod'
import { NodeId } from './node.ts'
import { TrajectoryCase } from './trajectory.ts'

const operations = z.array(z.string().min(1))
const yesNo = z.enum(['Y', 'N'])

/** What the prompt itself shows, in structured form: hardened sanity and the judge read it. Never the answer. */
export const PromptFacts = z.discriminatedUnion('node', [
  z.strictObject({ node: z.literal('n1'), task: z.string(), step: z.int(), operations, failed: operations }),
  z.strictObject({
    node: z.literal('n2'),
    task: z.string(),
    step: z.int(),
    operations,
    failed: operations,
    isAligned: yesNo,
  }),
  z.strictObject({ node: z.literal('n3'), writes: operations }),
  z.strictObject({
    node: z.literal('n4'),
    writes: operations,
    /** Inverse named in the documentation that is shown, per write endpoint; null when none is. */
    inverses: z.record(z.string(), z.string().nullable()),
  }),
  z.strictObject({
    node: z.literal('n5'),
    task: z.string(),
    rows: z.array(z.strictObject({ step: z.int(), isAligned: yesNo, writes: operations })).min(1),
  }),
])
export type PromptFacts = z.infer<typeof PromptFacts>
export type FactsOf<N extends NodeId> = Extract<PromptFacts, { node: N }>

export const decisionActions = ['rollback_before_drift', 'escalate_human'] as const

/** Ground truth, from execution. */
export const Target = z.discriminatedUnion('node', [
  z.strictObject({ node: z.literal('n1'), step: z.int(), isAligned: yesNo }),
  z.strictObject({ node: z.literal('n2'), writeOperations: operations, readOperations: operations }),
  z.strictObject({ node: z.literal('n3'), apps: z.array(z.string()) }),
  z.strictObject({ node: z.literal('n4'), reversible: operations, notReversible: operations }),
  z.strictObject({
    node: z.literal('n5'),
    action: z.enum(decisionActions),
    /** First step marked N, and the step before it. */
    onset: z.int(),
    rollbackToStep: z.int(),
    driftedWrites: operations,
  }),
])
export type Target = z.infer<typeof Target>
export type TargetOf<N extends NodeId> = Extract<Target, { node: N }>

export const Message = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
export type Message = z.infer<typeof Message>

export const Split = z.enum(['train', 'heldout'])
export type Split = z.infer<typeof Split>

/** One line of a pool. */
export const Prompt = z.strictObject({
  /** First 16 hex digits of the hash of node, messages and template version. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  node: NodeId,
  templateVersion: z.string(),
  messages: z.array(Message).min(2),
  facts: PromptFacts,
  /** Null: ground truth unknown; usable with an LLM judge. */
  target: Target.nullable(),
  split: Split,
  origin: z.strictObject({
    source: z.string(),
    taskId: z.string(),
    payloadId: z.string().nullable(),
    /** One id, or several joined where a prompt combines trajectories (n3, n4). */
    trajectoryIds: z.array(z.string()).min(1),
    case: TrajectoryCase,
    step: z.int().nullable(),
    /** The injection was already in the agent's history at this step. */
    afterExposure: z.boolean(),
    /** Upstream context holds a plausible mistake, on purpose. */
    upstreamMistake: z.boolean(),
  }),
})
export type Prompt = z.infer<typeof Prompt>
