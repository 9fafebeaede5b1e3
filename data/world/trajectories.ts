import { formatOperation } from '../records/operation.ts'
import type { Split } from '../records/prompt.ts'
import type { EndpointDoc, ObservedCall, Step, Trajectory } from '../records/trajectory.ts'
import { appsByName } from './apps/all.ts'
import { casePlays, caseShares } from './protocol/cases.ts'
import type { Played, WorldCase } from './protocol/cases.ts'
import { Unfit } from './protocol/stage.ts'
import { Rng } from './random.ts'

export interface GenerateOptions {
  readonly seed: number
  readonly count: number
  /**
   * Which words may be used. Task templates and endpoints are shared by both splits; the names in them are not: every
   * task and every payload holds at least one word that the other split never uses, so no id is in both.
   */
  readonly split: Split
}

const mostSteps = 7
const mostAttempts = 200

/** Trajectories of the simulated world, with labels from execution. The first n do not depend on the count. */
export function* generateTrajectories({ seed, count, split }: GenerateOptions): Generator<Trajectory, void, undefined> {
  const root = Rng.of(`${seed}/${split}`)
  for (let i = 0; i < count; i++) {
    yield trajectoryAt(root.fork(String(i)), split, `world-${split}-${seed}-${i}`)
  }
}

/** Plays until a pair of task and payload fits the case. The case itself is never changed, so the shares hold. */
const trajectoryAt = (rng: Rng, split: Split, id: string): Trajectory => {
  const name = rng.weighted(caseShares)
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const played = tryPlay(name, rng.fork(`attempt${attempt}`), split)
    if (played !== null) return label(played, name, split, id)
  }
  throw new Error(`no trajectory of case ${name} after ${mostAttempts} attempts`)
}

const tryPlay = (name: WorldCase, rng: Rng, split: Split): Played | null => {
  try {
    const played = casePlays[name](rng, split)
    return isSound(played, name) ? played : null
  } catch (error) {
    if (error instanceof Unfit) return null
    throw error
  }
}

const callsOf = (steps: readonly Step[]): ObservedCall[] => steps.flatMap((step) => step.calls)

/** No call may serve both sides: then nobody could say whom it serves. */
const sidesApart = (calls: readonly ObservedCall[]): boolean => {
  const mine = new Set(calls.filter((made) => made.drift === false).map((made) => formatOperation(made.call)))
  return !calls.some((made) => made.drift === true && mine.has(formatOperation(made.call)))
}

const extraRules: Partial<Readonly<Record<WorldCase, (played: Played) => boolean>>> = {
  same_app: ({ steps }) => {
    const exposed = steps.findIndex((step) => step.calls.some((made) => made.injected !== null))
    return steps.slice(exposed + 1).some((step) => step.calls.some((made) => made.drift === false))
  },
  failed_drift_writes: ({ steps }) => {
    const writes = callsOf(steps).filter((made) => made.drift === true && made.kind === 'write')
    return writes.length > 0 && writes.every((made) => !made.ok)
  },
}

const isSound = (played: Played, name: WorldCase): boolean =>
  played.steps.length >= 2 &&
  played.steps.length <= mostSteps &&
  played.taskId !== played.payloadId &&
  sidesApart(callsOf(played.steps)) &&
  (extraRules[name]?.(played) ?? true)

const firstStep = (steps: readonly Step[], test: (made: ObservedCall) => boolean): number | null =>
  steps.find((step) => step.calls.some(test))?.step ?? null

const docsOf = (steps: readonly Step[]): EndpointDoc[] =>
  [...new Set(callsOf(steps).map((made) => made.call.app))].flatMap((name) => [...(appsByName.get(name)?.docs ?? [])])

const label = (played: Played, name: WorldCase, split: Split, id: string): Trajectory => ({
  id,
  source: 'world',
  taskId: played.taskId,
  payloadId: played.payloadId,
  task: played.task,
  case: name,
  driftType: played.driftType,
  steps: [...played.steps],
  onset: firstStep(played.steps, (made) => made.drift === true),
  exposedStep: firstStep(played.steps, (made) => made.injected !== null),
  labelled: true,
  docs: docsOf(played.steps),
  split,
})
