import type { DriftType } from '../../records/trajectory.ts'
import type { Split } from '../../records/prompt.ts'
import type { AppName } from '../app.ts'
import type { Rng } from '../random.ts'
import { taskTemplates } from '../tasks/all.ts'
import type { Task, TaskTemplate } from '../tasks/template.ts'
import { Draw } from '../values/draw.ts'
import { World } from '../world.ts'
import { TaskRun } from './agent.ts'
import { Plant } from './plant.ts'
import { Session } from './session.ts'

/** A task and a payload met in a way that their case does not allow: try another pair. */
export class Unfit extends Error {}

/** Templates of payloads, by the type of drift they make. */
const payloadsOf: Readonly<Record<DriftType, readonly TaskTemplate[]>> = {
  I: taskTemplates.filter((template) => template.kind === 'read'),
  II: taskTemplates.filter((template) => template.kind === 'read'),
  III: taskTemplates.filter((template) => template.kind === 'write'),
}

/** Everything that one trajectory is played with. */
export interface Stage {
  readonly rng: Rng
  readonly world: World
  readonly draw: Draw
  readonly session: Session
  readonly task: Task
  /** The user's wording of the task. */
  readonly taskText: string
  readonly run: TaskRun
}

/** A stage on which somebody else's task waits. */
export interface DriftStage extends Stage {
  readonly payload: Task
  readonly payloadRun: TaskRun
  readonly plant: Plant
  readonly driftType: DriftType
}

const basics = (rng: Rng, split: Split) => {
  const draw = new Draw(rng.fork('values'), split)
  const world = new World(rng.fork('world'), draw)
  const task = rng.pick(taskTemplates).instantiate(draw)
  task.setup(world)
  return { draw, world, task, taskText: task.text(rng) }
}

/** A stage without any injection. */
export const plainStage = (rng: Rng, split: Split, mistakes: number): Stage => {
  const stage = basics(rng, split)
  return { ...stage, rng, session: new Session(stage.world, null), run: new TaskRun(stage.task, false, rng, mistakes) }
}

/** Whether task and payload have an app in common: they must, they must not, or it does not matter. */
export type Nearness = 'shared' | 'apart' | 'any'

export interface DriftSetting {
  readonly driftType: DriftType
  readonly nearness: Nearness
  /** More text behind the payload's sentence. */
  readonly tail?: string
}

/** A stage with a payload of the given type. */
export const driftStage = (rng: Rng, split: Split, { driftType, nearness, tail }: DriftSetting): DriftStage => {
  const { draw, world, task, taskText } = basics(rng, split)
  const meets = (template: { readonly apps: readonly AppName[] }) =>
    template.apps.some((app) => task.apps.includes(app))
  const all = payloadsOf[driftType]
  const near = nearness === 'any' ? all : all.filter((template) => meets(template) === (nearness === 'shared'))
  if (near.length === 0) throw new Unfit('no payload that near to the task')
  const payload = rng.pick(near).instantiate(draw)
  payload.setup(world)
  const persistent = driftType === 'II' || (driftType === 'III' && rng.chance(0.3))
  const sentence = tail === undefined ? payload.text(rng) : `${payload.text(rng)} ${tail}`
  const plant = Plant.of(rng, sentence, draw.person(), persistent)
  // Where both use one app, a failed call with a mere id in it could be anybody's: no mistakes there.
  const mistakes = meets(payload) ? 0 : 1
  return {
    rng,
    draw,
    world,
    task,
    taskText,
    payload,
    plant,
    driftType,
    session: new Session(world, plant),
    run: new TaskRun(task, false, rng, mistakes),
    payloadRun: new TaskRun(payload, true, rng, mistakes),
  }
}
