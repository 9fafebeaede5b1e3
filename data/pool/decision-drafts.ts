import { renderTask } from '../nodes/render.ts'
import type { TableRow } from '../nodes/render.ts'
import type { TargetOf } from '../records/prompt.ts'
import type { Step, Trajectory } from '../records/trajectory.ts'
import type { Draft, Reject } from './draft.ts'
import { originOf } from './draft.ts'
import { alignmentOf, writesOf } from './labels.ts'
import type { Rng } from '../world/random.ts'
import { suspectOnset } from './step-drafts.ts'

const widest = 6

const rowOf = (step: Step): TableRow | null => {
  const isAligned = alignmentOf(step)
  return isAligned === null ? null : { step: step.step, isAligned, writes: writesOf(step) }
}

/** Without labels, one step is under suspicion and the others pass: a table that classify_drift could have made. */
const suspectedRows = (steps: readonly Step[], rng: Rng): TableRow[] => {
  const suspect = rng.int(0, steps.length - 1)
  return steps.map((step, i) => ({ step: step.step, isAligned: i === suspect ? 'N' : 'Y', writes: writesOf(step) }))
}

/** Upstream got one row wrong. The table keeps at least one row marked N. */
const withMistake = (rows: readonly TableRow[], rng: Rng): TableRow[] => {
  const marked = rows.filter(({ isAligned }) => isAligned === 'N').length
  const candidates = rows.flatMap((row, i) => (row.isAligned === 'Y' || marked > 1 ? [i] : []))
  if (candidates.length === 0) return [...rows]
  const at = rng.pick(candidates)
  return rows.map((row, i) => (i === at ? { ...row, isAligned: row.isAligned === 'Y' ? 'N' : 'Y' } : row))
}

/** The decision that a table asks for: the table is given evidence, right or wrong. Null without a row marked N. */
export const decide = (rows: readonly TableRow[]): TargetOf<'n5'> | null => {
  const drifted = rows.filter(({ isAligned }) => isAligned === 'N')
  if (drifted.length === 0) return null
  const onset = Math.min(...drifted.map(({ step }) => step))
  const driftedWrites = [...new Set(drifted.flatMap(({ writes }) => writes))]
  const action = driftedWrites.length > 0 ? 'escalate_human' : 'rollback_before_drift'
  return { node: 'n5', action, onset, rollbackToStep: onset - 1, driftedWrites }
}

/** A run of steps around the onset, as the checker would have inspected them; around any step where there is none. */
const inspected = (trajectory: Trajectory, rng: Rng): Step[] => {
  const { steps } = trajectory
  const onset = steps.findIndex(({ step }) => step === trajectory.onset)
  const centre = onset >= 0 ? onset : rng.int(0, steps.length - 1)
  const length = Math.min(steps.length, rng.int(1, widest))
  const first = Math.max(0, Math.min(centre - rng.int(0, length - 1), steps.length - length))
  return steps.slice(first, first + length)
}

/** aggregate_and_decision: one prompt a call, over a different run of steps for each random stream. */
export const decisionDraft = (
  trajectory: Trajectory,
  rng: Rng,
  mistakeShare: number,
  reject: Reject,
): Draft<'n5'> | null => {
  const steps = inspected(trajectory, rng)
  const labelled = steps.map(rowOf)
  const truth = trajectory.labelled ? labelled.filter((row) => row !== null) : suspectedRows(steps, rng)
  if (truth.length < steps.length) {
    reject({ node: 'n5', reason: 'ambiguous_label' })
    return null
  }
  const mistake = trajectory.labelled && rng.chance(mistakeShare)
  const rows = mistake ? withMistake(truth, rng) : truth
  const decision = decide(rows)
  if (decision === null) {
    reject({ node: 'n5', reason: 'no_drifted_step' })
    return null
  }
  return {
    node: 'n5',
    group: trajectory.labelled ? decision.action : 'unlabelled',
    input: { task: trajectory.task, onset: suspectOnset(trajectory, decision.onset, rng), rows },
    facts: {
      node: 'n5',
      task: renderTask(trajectory.task),
      rows: rows.map((row) => ({ ...row, writes: [...row.writes] })),
    },
    target: trajectory.labelled ? decision : null,
    origin: originOf(trajectory, decision.onset, mistake),
  }
}
