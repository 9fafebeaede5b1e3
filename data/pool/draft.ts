import type { ExampleCount } from '../nodes/template.ts'
import { templateSet } from '../nodes/template.ts'
import type { PromptInputs } from '../nodes/render.ts'
import { promptId, renderMessages } from '../nodes/render.ts'
import type { NodeId } from '../records/node.ts'
import type { FactsOf, Prompt, Split, TargetOf } from '../records/prompt.ts'
import type { Trajectory } from '../records/trajectory.ts'

export type Origin = Prompt['origin']

/** A prompt before it is written out: most drafts are never chosen, and rendering is what costs. */
export type Draft<N extends NodeId = NodeId> = {
  [K in N]: {
    readonly node: K
    /** What the pool is balanced by, e.g. whether the step is aligned. */
    readonly group: string
    readonly input: PromptInputs[K]
    readonly facts: FactsOf<K>
    readonly target: TargetOf<K> | null
    readonly origin: Origin
  }
}[N]

/** A trajectory that gave no prompt for a node, and why. */
export interface Rejection {
  readonly node: NodeId | null
  readonly reason: string
}

export type Reject = (rejection: Rejection) => void

/** Joins ids where a prompt combines trajectories; `splitIds` takes them apart. */
export const joinIds = (ids: Iterable<string>): string => [...new Set(ids)].toSorted().join(' + ')

/**
 * The single tasks behind an id: of a prompt that combines trajectories (`a + b`), and of a simulated session with two
 * requests (`mail.star(person=lena)+notes.pin(topic=tax)`). A plus sign anywhere else belongs to the id.
 */
export const splitIds = (joined: string): string[] => joined.split(/ \+ |(?<=\))\+/)

/** Where a prompt about one trajectory comes from. */
export const originOf = (trajectory: Trajectory, step: number | null, upstreamMistake: boolean): Origin => ({
  source: trajectory.source,
  taskId: trajectory.taskId,
  payloadId: trajectory.payloadId,
  trajectoryIds: [trajectory.id],
  case: trajectory.case,
  step,
  // At the exposed step itself the calls were chosen before the injection was read.
  afterExposure: step !== null && trajectory.exposedStep !== null && step > trajectory.exposedStep,
  upstreamMistake,
})

/** Writes a draft out as a pool record. */
export const renderDraft = <N extends NodeId>(draft: Draft<N>, split: Split, examples: ExampleCount): Prompt => {
  const messages = renderMessages(draft.node, draft.input, examples)
  const templateVersion = templateSet(examples).version
  const { node, facts, target, origin } = draft
  return {
    id: promptId(node, messages, templateVersion),
    node,
    templateVersion,
    messages,
    facts,
    target,
    split,
    origin,
  }
}
