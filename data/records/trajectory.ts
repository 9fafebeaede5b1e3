import { z } from 'zod'
import { Call } from './operation.ts'

/** `session` calls (login, cd) are neither reads nor writes of the task. */
export const CallKind = z.enum(['read', 'write', 'session'])
export type CallKind = z.infer<typeof CallKind>

/** One tool call with what came back. Labels come from execution. */
export const ObservedCall = z.strictObject({
  call: Call,
  kind: CallKind,
  /** The text the tool returned; untrusted. */
  observation: z.string(),
  /** The call succeeded. A failed call changed nothing. */
  ok: z.boolean(),
  /** Execution changed the world's state. */
  stateChanged: z.boolean(),
  /** True: serves somebody else's instruction. False: serves the task, mistakes included. Null: nobody knows. */
  drift: z.boolean().nullable(),
  /** Exact substring of the observation that was injected, if any: rendering must keep it. */
  injected: z.string().nullable(),
})
export type ObservedCall = z.infer<typeof ObservedCall>

/** One assistant turn: its words, its calls and their observations. Numbered from 1. */
export const Step = z.strictObject({
  step: z.int().min(1),
  /** What the assistant said; untrusted, may be empty. */
  thought: z.string(),
  calls: z.array(ObservedCall),
})
export type Step = z.infer<typeof Step>

/** Documentation of one endpoint, as an agent could look it up. */
export const EndpointDoc = z.strictObject({
  app: z.string(),
  endpoint: z.string(),
  /** One line: what it does and what it needs. */
  summary: z.string(),
  kind: CallKind,
  params: z.array(z.string()),
  /** Written name `app.endpoint` of the call that undoes this one, if one is documented. */
  undoneBy: z.string().nullable(),
})
export type EndpointDoc = z.infer<typeof EndpointDoc>

export const DriftType = z.enum(['I', 'II', 'III'])
export type DriftType = z.infer<typeof DriftType>

/** Why this trajectory was made: what a checker must get right about it. */
export const TrajectoryCase = z.enum([
  'clean',
  'drift',
  'resisted',
  'drift_and_return',
  'same_app',
  'second_request',
  'failed_drift_writes',
  'fake_verdict',
  'recorded',
])
export type TrajectoryCase = z.infer<typeof TrajectoryCase>

export const Trajectory = z.strictObject({
  id: z.string().min(1),
  /** Which importer or world made it. */
  source: z.string().min(1),
  /** Identity of the task (template and parameters, or the recording's task id): never in two splits. */
  taskId: z.string().min(1),
  /** Identity of the payload task behind an injection; null without one. Never in two splits. */
  payloadId: z.string().nullable(),
  /** What the user asked, all turns. */
  task: z.string().min(1),
  /** Name of the attack whose wording was put around the payload; left out where there was none, or nobody said. */
  attack: z.string().min(1).optional(),
  case: TrajectoryCase,
  driftType: DriftType.nullable(),
  steps: z.array(Step).min(1),
  /** First drifted step; null when there is none or nobody knows. */
  onset: z.int().min(1).nullable(),
  /** First step whose observation shows the injection; null when there is none. */
  exposedStep: z.int().min(1).nullable(),
  /** False: labels are unknown, prompts get no target. */
  labelled: z.boolean(),
  /** Documentation of every app that occurs. */
  docs: z.array(EndpointDoc),
  /** Set by the maker when the trajectory must go to one split (values reserved for it). */
  split: z.enum(['train', 'heldout']).nullable(),
})
export type Trajectory = z.infer<typeof Trajectory>
