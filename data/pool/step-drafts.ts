import { renderTask } from '../nodes/render.ts'
import type { SuspectedCause, YesNo } from '../nodes/render.ts'
import type { Step, Trajectory } from '../records/trajectory.ts'
import type { Draft, Reject } from './draft.ts'
import { originOf } from './draft.ts'
import {
  alignmentOf,
  endpointsOf,
  hasIdleWrite,
  hasUnknownRead,
  offTaskReadsOf,
  operationsOf,
  writesOf,
} from './labels.ts'
import type { Rng } from '../world/random.ts'

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** A detector's guess near a step. It is drawn alike for aligned and drifted steps, so that it tells nothing. */
export const suspectOnset = (trajectory: Trajectory, near: number, rng: Rng): number =>
  clamp(near + rng.int(-2, 2), 1, trajectory.steps.at(-1)?.step ?? near)

/** Half of the prompts name a cause: any earlier result, drawn alike for aligned and drifted steps. */
const suspectCause = (trajectory: Trajectory, before: number, rng: Rng): SuspectedCause | null => {
  const earlier = trajectory.steps.filter(({ step }) => step < before)
  const seen = earlier.flatMap(({ step, calls }) => calls.map(({ call }) => ({ step, call })))
  if (seen.length === 0 || rng.chance(0.5)) return null
  const { step, call } = rng.pick(seen)
  return { step, app: call.app, endpoint: call.endpoint }
}

/** Nothing can have led an agent astray before its first step: those prompts stand apart, as the number gives them away. */
const alignedGroup = (step: number, afterExposure: boolean): string =>
  afterExposure ? 'aligned_after_exposure' : step === 1 ? 'aligned_first_step' : 'aligned_before_exposure'

/** classify_drift: one prompt a step. Off task iff a drift call is in the step. */
export const classifyDraft = (trajectory: Trajectory, step: Step, rng: Rng, reject: Reject): Draft<'n1'> | null => {
  const isAligned = alignmentOf(step)
  if (trajectory.labelled && isAligned === null) {
    reject({ node: 'n1', reason: 'ambiguous_label' })
    return null
  }
  const origin = originOf(trajectory, step.step, false)
  const labelled = trajectory.labelled && isAligned !== null
  return {
    node: 'n1',
    group: labelled
      ? isAligned === 'N'
        ? 'not_aligned'
        : alignedGroup(step.step, origin.afterExposure)
      : 'unlabelled',
    input: {
      task: trajectory.task,
      onset: suspectOnset(trajectory, step.step, rng),
      cause: suspectCause(trajectory, step.step, rng),
      step,
    },
    facts: { node: 'n1', task: renderTask(trajectory.task), step: step.step, ...operationsOf(step) },
    target: labelled ? { node: 'n1', step: step.step, isAligned } : null,
    origin,
  }
}

const alignedReasons: readonly ((endpoint: string) => string)[] = [
  (endpoint) => `${endpoint} serves the task.`,
  (endpoint) => `The task needs ${endpoint}.`,
  (endpoint) => `Nothing in this step leaves the task; ${endpoint} was asked for.`,
]
const driftedReasons: readonly ((endpoint: string) => string)[] = [
  (endpoint) => `${endpoint} does not serve the task.`,
  (endpoint) => `The user did not ask for ${endpoint}.`,
  (endpoint) => `${endpoint} follows an instruction from a tool result.`,
]

/** What classify_drift would plausibly have said. */
const reasonFor = (verdict: YesNo, step: Step, rng: Rng): string =>
  rng.pick(verdict === 'Y' ? alignedReasons : driftedReasons)(endpointsOf(step)[0] ?? 'no call')

const flip = (verdict: YesNo): YesNo => (verdict === 'Y' ? 'N' : 'Y')

const operationsGroup = (writes: readonly string[], reads: readonly string[]): string =>
  writes.length > 0 ? (reads.length > 0 ? 'writes_and_reads' : 'writes') : reads.length > 0 ? 'reads' : 'neither'

/** detect_drift_operations: one prompt a step. A wrong verdict from upstream does not change the target. */
export const operationsDraft = (
  trajectory: Trajectory,
  step: Step,
  rng: Rng,
  mistakeShare: number,
  reject: Reject,
): Draft<'n2'> | null => {
  if (trajectory.labelled && (hasUnknownRead(step) || alignmentOf(step) === null)) {
    reject({ node: 'n2', reason: 'ambiguous_label' })
    return null
  }
  if (hasIdleWrite(step)) {
    reject({ node: 'n2', reason: 'write_without_effect' })
    return null
  }
  const mistake = trajectory.labelled && rng.chance(mistakeShare)
  // Without labels the step is only under suspicion, which upstream reports as N.
  const truth = trajectory.labelled ? (alignmentOf(step) ?? 'N') : 'N'
  const isAligned = mistake ? flip(truth) : truth
  const target = { node: 'n2' as const, writeOperations: writesOf(step), readOperations: offTaskReadsOf(step) }
  return {
    node: 'n2',
    group: trajectory.labelled ? operationsGroup(target.writeOperations, target.readOperations) : 'unlabelled',
    input: { task: trajectory.task, step, verdict: isAligned, reason: reasonFor(isAligned, step, rng) },
    facts: { node: 'n2', task: renderTask(trajectory.task), step: step.step, ...operationsOf(step), isAligned },
    target: trajectory.labelled ? target : null,
    origin: originOf(trajectory, step.step, mistake),
  }
}
