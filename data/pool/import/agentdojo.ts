import { join } from 'node:path'
import { PipelineError } from '../../errors.ts'
import type { Call } from '../../records/operation.ts'
import type { CallKind, ObservedCall, Step, Trajectory, TrajectoryCase } from '../../records/trajectory.ts'
import type { Reject } from '../draft.ts'
import { readApiCatalogue } from './api-docs.ts'
import type { ApiCatalogue } from './api-docs.ts'
import { findInjection } from './injection-span.ts'
import { readRunFiles } from './run-files.ts'
import type { RunFile } from './run-files.ts'
import { isCertain, readRunLabels } from './run-labels.ts'
import type { CallLabel, RunLabel } from './run-labels.ts'
import { contentText, parseRun } from './run-record.ts'
import type { RunMessage, RunRecord, ToolCall } from './run-record.ts'
import { flattenArgs } from './values.ts'

const source = 'agentdojo'
const kinds = { READ: 'read', WRITE: 'write', SESSION: 'session' } as const satisfies Record<
  CallLabel['kind'],
  CallKind
>
const drifts = { drift: true, aligned: false, ambiguous: null } as const satisfies Record<
  CallLabel['label'],
  boolean | null
>
const cases = {
  clean: 'clean',
  not_exposed: 'clean',
  resisted: 'resisted',
  drifted: 'drift',
  uncertain: 'recorded',
} as const satisfies Record<RunLabel['kind'], TrajectoryCase>

export interface ImportOptions {
  /** Stop after this many trajectories. */
  readonly limit?: number
  /** Also give runs without certain labels, for prompts without a target. Default: only if there is no label file. */
  readonly unlabelled?: boolean
  readonly reject?: Reject
}

const toCall = (call: ToolCall, catalogue: ApiCatalogue): Call => ({
  app: catalogue.appOf.get(call.function) ?? 'unknown',
  endpoint: call.function,
  args: flattenArgs(call.args),
})

const unlabelledKind = ({ app, endpoint }: Call, catalogue: ApiCatalogue): CallKind =>
  catalogue.isWrite(app, endpoint) ? 'write' : 'read'

const observe = (
  message: RunMessage,
  toolCall: ToolCall,
  label: CallLabel | undefined,
  injections: readonly string[],
  catalogue: ApiCatalogue,
): ObservedCall => {
  const call = toCall(toolCall, catalogue)
  const text = contentText(message.content)
  const ok = label?.ok ?? message.error == null
  const kind = label === undefined ? unlabelledKind(call, catalogue) : kinds[label.kind]
  return {
    call,
    kind,
    observation: ok || text !== '' ? text : (message.error ?? ''),
    ok,
    stateChanged: label?.state_changed ?? (kind === 'write' && ok),
    drift: label === undefined ? null : drifts[label.label],
    injected: findInjection(text, injections),
  }
}

/** A step is one assistant message with what its calls returned. */
const toSteps = (run: RunRecord, label: RunLabel | undefined, path: string, catalogue: ApiCatalogue): Step[] => {
  const steps: { step: number; thought: string; calls: ObservedCall[] }[] = []
  const injections = Object.values(run.injections ?? {})
  let requested: readonly ToolCall[] = []
  let observed = 0
  for (const message of run.messages) {
    if (message.role === 'assistant') {
      steps.push({ step: steps.length + 1, thought: contentText(message.content), calls: [] })
      requested = message.tool_calls ?? []
    }
    if (message.role !== 'tool') continue
    const toolCall = message.tool_call ?? requested.find(({ id }) => id != null && id === message.tool_call_id)
    const step = steps.at(-1)
    if (toolCall === undefined || step === undefined)
      throw new PipelineError('pool', `${path}: a tool result belongs to no call`, { remedy: 'Remove the file.' })
    step.calls.push(observe(message, toolCall, label?.calls[observed], injections, catalogue))
    observed++
  }
  return steps
}

const firstStep = (steps: readonly Step[], holds: (call: ObservedCall) => boolean): number | null =>
  steps.find(({ calls }) => calls.some(holds))?.step ?? null

/** Identity of a task; an attacker's goal is the same task whether a user or an injection asks for it. */
const taskKey = (run: RunRecord, task: string): string => `${source}/${run.suite_name}/${task}`

/** Labels are joined by position: they count only where every tool result is the call that they name. */
const labelsFit = (steps: readonly Step[], label: RunLabel): boolean => {
  const names = steps.flatMap(({ calls }) => calls.map(({ call }) => call.endpoint))
  return names.length === label.calls.length && names.every((name, i) => name === label.calls[i]?.fn)
}

/** Runs without a payload name an attack too: that of the batch that they were recorded with. */
const attackOf = ({ injection_task_id: payload, attack_type: attack }: RunRecord): Pick<Trajectory, 'attack'> =>
  payload == null || attack == null || attack === '' ? {} : { attack }

const toTrajectory = (file: RunFile, label: RunLabel | undefined, catalogue: ApiCatalogue): Trajectory => {
  const run = parseRun(file.text, file.path)
  const bare = toSteps(run, undefined, file.path, catalogue)
  const certain = label !== undefined && isCertain(label) && labelsFit(bare, label)
  const steps = certain ? toSteps(run, label, file.path, catalogue) : bare
  const payload = run.injection_task_id ?? null
  const users = run.messages.filter(({ role }) => role === 'user').map(({ content }) => contentText(content))
  const writesOffTask = steps.some(({ calls }) => calls.some((c) => c.drift === true && c.kind === 'write' && c.ok))
  return {
    id: `${source}/${file.key.replace(/\.json$/, '')}`,
    source,
    taskId: taskKey(run, run.user_task_id),
    payloadId: payload === null ? null : taskKey(run, payload),
    ...attackOf(run),
    task: users.join('\n\n'),
    case: certain ? cases[label.kind] : 'recorded',
    driftType: certain && writesOffTask ? 'III' : null,
    steps,
    onset: certain ? firstStep(steps, ({ drift }) => drift === true) : null,
    exposedStep:
      certain && label.exposed_step !== null
        ? label.exposed_step + 1
        : firstStep(steps, ({ injected }) => injected !== null),
    labelled: certain,
    docs: catalogue.docs,
    split: null,
  }
}

/** Why a run gives no trajectory; null when it does. */
const refusal = (trajectory: Trajectory, unlabelled: boolean): string | null => {
  if (trajectory.steps.length === 0) return 'run_without_steps'
  if (trajectory.task.trim() === '') return 'run_without_task'
  return trajectory.labelled || unlabelled ? null : 'uncertain_labels'
}

/**
 * Reads runs in the AgentDojo format, lazily: `runs/` with folders or tar archives, and, if present, beside it
 * `derived/labels.jsonl` (or `.jsonl.gz`), `derived/api_docs.json` and `derived/reversibility_draft.json`.
 */
export function* importAgentDojo(directory: string, options: ImportOptions = {}): Generator<Trajectory> {
  const derived = join(directory, 'derived')
  const labels = readRunLabels(derived)
  const catalogue = readApiCatalogue(join(derived, 'api_docs.json'), join(derived, 'reversibility_draft.json'))
  const unlabelled = options.unlabelled ?? labels === null
  let given = 0
  for (const file of readRunFiles(directory)) {
    if (given >= (options.limit ?? Infinity)) return
    const trajectory = toTrajectory(file, labels?.get(file.key), catalogue)
    const reason = refusal(trajectory, unlabelled)
    if (reason === null) {
      given++
      yield trajectory
    } else options.reject?.({ node: null, reason })
  }
}
