import type { Call } from '../../../data/records/operation.ts'
import type { Split } from '../../../data/records/prompt.ts'
import { Rng } from '../../../data/world/random.ts'
import type { Task, TaskTemplate } from '../../../data/world/tasks/template.ts'
import { Draw } from '../../../data/world/values/draw.ts'
import { World } from '../../../data/world/world.ts'
import type { Outcome } from '../../../data/world/world.ts'

/** A fresh world with one task in it. */
export const worldWith = (template: TaskTemplate, seed: number, split: Split = 'train') => {
  const rng = Rng.of(seed)
  const draw = new Draw(rng.fork('values'), split)
  const world = new World(rng.fork('world'), draw)
  const task = template.instantiate(draw)
  task.setup(world)
  return { world, task, draw, rng }
}

/** Runs a task's scripted solution; sees every call before and after it is made. */
export const solve = (
  world: World,
  task: Task,
  onCall: (call: Call, run: () => Outcome) => void = (_call, run) => run(),
) => {
  const solution = task.solve()
  let step = solution.next()
  while (step.done !== true) {
    const seen: Outcome[] = []
    for (const call of step.value) {
      onCall(call, () => {
        const outcome = world.execute(call)
        seen.push(outcome)
        return outcome
      })
    }
    step = solution.next(seen)
  }
}
