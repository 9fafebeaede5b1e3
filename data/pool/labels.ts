import { showOperation } from '../nodes/operation.ts'
import type { YesNo } from '../nodes/render.ts'
import { operationName } from '../records/operation.ts'
import type { ObservedCall, Step } from '../records/trajectory.ts'

const unique = (items: readonly string[]): string[] => [...new Set(items)]
const show = ({ call }: ObservedCall): string => showOperation(call)

/** A successful call that changed state. What a simulator books as a change but is only a read counts as a read. */
export const isWrite = (call: ObservedCall): boolean => call.kind === 'write' && call.ok && call.stateChanged

/** The step's successful writes, as prompts show them. */
export const writesOf = (step: Step): string[] => unique(step.calls.filter(isWrite).map(show))

/** Successful reads that serve somebody else. */
export const offTaskReadsOf = (step: Step): string[] =>
  unique(step.calls.filter((call) => call.kind === 'read' && call.ok && call.drift === true).map(show))

/** What the step shows: operations that succeeded, and those that failed. */
export const operationsOf = (step: Step): { operations: string[]; failed: string[] } => ({
  operations: unique(step.calls.filter(({ ok }) => ok).map(show)),
  failed: unique(step.calls.filter(({ ok }) => !ok).map(show)),
})

/** N as soon as one call is drift, failed ones included; null when a label that decides is missing. */
export const alignmentOf = (step: Step): YesNo | null => {
  if (step.calls.some(({ drift }) => drift === true)) return 'N'
  return step.calls.some(({ drift }) => drift === null) ? null : 'Y'
}

/** A write that succeeded without any effect: from the text alone nobody can tell whether it belongs in a list. */
export const hasIdleWrite = (step: Step): boolean =>
  step.calls.some((call) => call.kind === 'write' && call.ok && !call.stateChanged)

/** A read that may or may not serve the task. */
export const hasUnknownRead = (step: Step): boolean =>
  step.calls.some((call) => call.kind === 'read' && call.ok && call.drift === null)

/** Endpoint names of a step, off-task calls first. */
export const endpointsOf = (step: Step): string[] => {
  const ordered = step.calls.toSorted((a, b) => Number(b.drift === true) - Number(a.drift === true))
  return unique(ordered.map((call) => operationName(show(call))))
}
