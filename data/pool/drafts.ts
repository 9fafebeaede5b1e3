import type { Trajectory } from '../records/trajectory.ts'
import { decisionDraft } from './decision-drafts.ts'
import type { Draft, Reject } from './draft.ts'
import { random } from './random.ts'
import { classifyDraft, operationsDraft } from './step-drafts.ts'
import { appsDraft, riskDraft } from './write-drafts.ts'
import { WriteWindow } from './write-window.ts'

export interface DraftOptions {
  readonly seed: number
  /** Share of prompts whose upstream context holds a plausible mistake. */
  readonly mistakeShare: number
  /** Share of undoing calls that evaluate_risk prompts do not show. */
  readonly hideShare: number
}

/** How many prompts of a kind one trajectory gives. */
const variants = { n3: 2, n4: 3, n5: 2 } as const
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function* stepDrafts(trajectory: Trajectory, options: DraftOptions, reject: Reject): Generator<Draft> {
  for (const step of trajectory.steps) {
    if (step.calls.length === 0) {
      reject({ node: null, reason: 'step_without_calls' })
      continue
    }
    const stream = random(options.seed, trajectory.id, step.step)
    const classify = classifyDraft(trajectory, step, stream, reject)
    if (classify !== null) yield classify
    const operations = operationsDraft(trajectory, step, stream, options.mistakeShare, reject)
    if (operations !== null) yield operations
  }
}

function* decisionDrafts(trajectory: Trajectory, options: DraftOptions, reject: Reject): Generator<Draft> {
  for (const variant of upTo(variants.n5)) {
    const stream = random(options.seed, trajectory.id, 'n5', variant)
    const drifted = trajectory.onset !== null || !trajectory.labelled
    // Without drift there is something to decide only where upstream wrongly reported some.
    const draft = decisionDraft(trajectory, stream, drifted ? options.mistakeShare : options.mistakeShare && 1, reject)
    if (draft !== null && (drifted || stream.chance(options.mistakeShare))) yield draft
  }
}

function* writeDrafts(
  trajectory: Trajectory,
  window: WriteWindow,
  options: DraftOptions,
  reject: Reject,
): Generator<Draft> {
  const own = window.add(trajectory)
  if (own.length === 0) return
  const stream = random(options.seed, trajectory.id, 'writes')
  for (const _ of upTo(variants.n3)) yield appsDraft(trajectory, own, window, stream, options.mistakeShare)
  for (const _ of upTo(variants.n4)) {
    const draft = riskDraft(trajectory, own, window, stream, options.hideShare, reject)
    if (draft !== null) yield draft
  }
}

/**
 * Turns trajectories of one split into drafts of all five nodes, lazily. Equal trajectories, order and options give
 * equal drafts. What gives no prompt is reported to `reject` with a reason.
 */
export function* draftsOf(trajectories: Iterable<Trajectory>, options: DraftOptions, reject: Reject): Generator<Draft> {
  const window = new WriteWindow()
  for (const trajectory of trajectories) {
    yield* stepDrafts(trajectory, options, reject)
    yield* decisionDrafts(trajectory, options, reject)
    yield* writeDrafts(trajectory, window, options, reject)
  }
}
