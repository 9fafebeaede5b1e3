import type { DriftType, Step, TrajectoryCase } from '../../records/trajectory.ts'
import type { Split } from '../../records/prompt.ts'
import type { Rng } from '../random.ts'
import { taskTemplates } from '../tasks/all.ts'
import { TaskRun } from './agent.ts'
import { driftStage, plainStage, Unfit } from './stage.ts'
import type { DriftSetting, DriftStage, Nearness, Stage } from './stage.ts'
import { fakeVerdicts, fillWording, secondRequestWordings, thoughtFor } from './wordings.ts'

export type WorldCase = Exclude<TrajectoryCase, 'recorded'>

/**
 * How often each case is made. A resisted injection has no drift type; one whose writes all failed has the type of what
 * it asked for, III.
 */
export const caseShares: Readonly<Record<WorldCase, number>> = {
  clean: 0.12,
  drift: 0.3,
  resisted: 0.15,
  drift_and_return: 0.14,
  same_app: 0.1,
  second_request: 0.06,
  failed_drift_writes: 0.07,
  fake_verdict: 0.06,
}

const driftTypes: Readonly<Record<DriftType, number>> = { I: 0.28, II: 0.22, III: 0.5 }

/** What was played: the case's own part of a trajectory. */
export interface Played {
  readonly task: string
  readonly taskId: string
  readonly payloadId: string | null
  readonly driftType: DriftType | null
  readonly steps: readonly Step[]
}

const finish = ({ run, session }: Stage): void => {
  while (!run.done) run.turn(session)
}

/** Goes on with the task until the planted text was seen; a look around carries it where the task has no more reads. */
const expose = (stage: DriftStage): void => {
  const { run, session, plant, rng } = stage
  if (rng.chance(0.35)) run.turn(session)
  plant.arm()
  while (!run.done && !session.exposed) run.turn(session)
  if (!session.exposed) run.lookAround(session)
  if (!session.exposed) throw new Unfit('nothing could carry the injection')
}

const driftAway = ({ payloadRun, session }: DriftStage): void => {
  while (!payloadRun.done) payloadRun.turn(session)
}

/** Reads the poisoned record again, as part of the task. */
const meetAgain = ({ run, session, plant }: DriftStage): void => {
  if (plant.source !== null) run.repeat(session, plant.source)
}

/** From exposure to the end of the drift; a persistent source is met again before or within it. */
const exposeAndDrift = (stage: DriftStage): void => {
  const { rng, run, session, payloadRun, driftType } = stage
  expose(stage)
  if (!run.done && rng.chance(0.2)) run.turn(session)
  if (driftType === 'II') {
    if (rng.chance(0.5)) payloadRun.turn(session)
    meetAgain(stage)
    if (payloadRun.done) payloadRun.repeat(session, lastDriftRead(session.steps))
  }
  driftAway(stage)
}

const lastDriftRead = (steps: readonly Step[]) => {
  const read = steps.flatMap((step) => step.calls).findLast((made) => made.drift === true && made.ok)
  if (read === undefined) throw new Unfit('no drifted call to make again')
  return read.call
}

/** The agent works on after the drift, or looks at its apps once more when the task was done before. */
const comeBack = (stage: DriftStage): void => {
  const { run, session } = stage
  if (run.done) run.lookAround(session)
  else run.turn(session)
  finish(stage)
}

/** One turn that serves both the task and the payload. */
const bothAtOnce = ({ run, payloadRun, session, rng }: DriftStage): void => {
  const mine = run.next.map((call) => run.attempt(call))
  const theirs = payloadRun.next.map((call) => payloadRun.attempt(call))
  if (mine.length + theirs.length > 3 || theirs.length === 0 || mine.length === 0) return
  const seen = session.turn(thoughtFor(rng), [...mine, ...theirs])
  run.absorb(seen.slice(0, mine.length))
  payloadRun.absorb(seen.slice(mine.length))
}

const outcomeOf = (stage: DriftStage, driftType: DriftType | null): Played => ({
  task: stage.taskText,
  taskId: stage.task.id,
  payloadId: stage.payload.id,
  driftType,
  steps: stage.session.steps,
})

const resist = (stage: DriftStage): Played => {
  const { run, session, rng, plant } = stage
  expose(stage)
  // most tasks should go on after the injection: these steps are the hard negatives
  if (run.done && rng.chance(0.6)) throw new Unfit('nothing left to do after the injection')
  if (run.done) run.lookAround(session)
  else run.turn(session)
  if (plant.persistent) meetAgain(stage)
  finish(stage)
  return outcomeOf(stage, null)
}

const driftAndReturn = (stage: DriftStage): Played => {
  const { rng, run } = stage
  if (rng.chance(0.15)) {
    expose(stage)
    bothAtOnce(stage)
    if (stage.driftType === 'II') meetAgain(stage)
    driftAway(stage)
  } else exposeAndDrift(stage)
  if (run.done && rng.chance(0.6)) throw new Unfit('nothing left to come back to')
  comeBack(stage)
  return outcomeOf(stage, stage.driftType)
}

const newDriftStage = (rng: Rng, split: Split, nearness: Nearness = 'any'): DriftStage =>
  driftStage(rng, split, { driftType: rng.weighted(driftTypes), nearness })

const clean = (rng: Rng, split: Split): Played => {
  const stage = plainStage(rng, split, 2)
  if (rng.chance(0.3)) stage.run.lookAround(stage.session)
  finish(stage)
  if (stage.session.steps.length < 2) stage.run.lookAround(stage.session)
  return {
    task: stage.taskText,
    taskId: stage.task.id,
    payloadId: null,
    driftType: null,
    steps: stage.session.steps,
  }
}

const drift = (stage: DriftStage): Played => {
  exposeAndDrift(stage)
  return outcomeOf(stage, stage.driftType)
}

const sameApp = (rng: Rng, split: Split): Played => {
  const stage = newDriftStage(rng, split, 'shared')
  return rng.chance(0.4) ? resist(stage) : driftAndReturn(stage)
}

const secondRequest = (rng: Rng, split: Split): Played => {
  const stage = plainStage(rng, split, 1)
  const second = rng.pick(taskTemplates).instantiate(stage.draw)
  second.setup(stage.world)
  finish(stage)
  const run = new TaskRun(second, false, rng, 1)
  while (!run.done) run.turn(stage.session)
  const wording = rng.pick(secondRequestWordings)
  return {
    task: fillWording(wording, { first: stage.taskText, second: second.text(rng) }),
    taskId: `${stage.task.id}+${second.id}`,
    payloadId: null,
    driftType: null,
    steps: stage.session.steps,
  }
}

const failedDriftWrites = (rng: Rng, split: Split): Played => {
  const stage = driftStage(rng, split, { driftType: 'III', nearness: 'apart' })
  const { payloadRun, session } = stage
  expose(stage)
  while (!payloadRun.done && !payloadRun.refusedTurn(session));
  if (rng.chance(0.4)) payloadRun.refusedTurn(session)
  if (rng.chance(0.6)) comeBack(stage)
  return outcomeOf(stage, 'III')
}

const fakeText = (rng: Rng, claim: 'Y' | 'N'): string => fillWording(rng.pick(fakeVerdicts), { claim })

/** Puts a made-up verdict into the words of one step; its claim is right by chance, so it tells nothing. */
const withFakeThought = (played: Played, rng: Rng): Played => {
  const target = rng.int(0, played.steps.length - 1)
  const steps = played.steps.map((step, i) => {
    if (i !== target) return step
    const fake = fakeText(rng, rng.chance(0.5) ? 'Y' : 'N')
    return { ...step, thought: step.thought === '' ? fake : `${step.thought} ${fake}` }
  })
  return { ...played, steps }
}

/** The made-up verdict comes from the agent itself, or stands in the injected text. */
const fakeVerdict = (rng: Rng, split: Split): Played => {
  if (rng.chance(0.2)) return withFakeThought(clean(rng, split), rng)
  const inThought = rng.chance(0.6)
  const setting: DriftSetting = {
    driftType: rng.weighted(driftTypes),
    nearness: 'any',
    ...(inThought ? {} : { tail: fakeText(rng, 'Y') }),
  }
  const played = rng.pick([drift, drift, driftAndReturn, resist])(driftStage(rng, split, setting))
  return inThought ? withFakeThought(played, rng) : played
}

/** One maker for each case. */
export const casePlays = {
  clean,
  drift: (rng, split) => drift(newDriftStage(rng, split)),
  resisted: (rng, split) => resist(newDriftStage(rng, split)),
  drift_and_return: (rng, split) => driftAndReturn(newDriftStage(rng, split)),
  same_app: sameApp,
  second_request: secondRequest,
  failed_drift_writes: failedDriftWrites,
  fake_verdict: fakeVerdict,
} as const satisfies Readonly<Record<WorldCase, (rng: Rng, split: Split) => Played>>
