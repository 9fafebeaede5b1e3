import { PipelineError } from '../errors.ts'
import type { Prompt, Split } from '../records/prompt.ts'
import type { Trajectory } from '../records/trajectory.ts'
import type { Reject } from './draft.ts'
import { splitIds } from './draft.ts'
import { random, shuffle } from './random.ts'

/**
 * What must not be in two splits: every task that is asked for, the second request of a session included, and the
 * payload. A payload is another task of the pool, so all share one space of names.
 */
const keysOf = ({ taskId, payloadId }: Pick<Trajectory, 'taskId' | 'payloadId'>): string[] => [
  ...new Set([taskId, payloadId ?? taskId].flatMap(splitIds)),
]

/** Trajectories that share a task or a payload, directly or through others. */
export const components = (trajectories: readonly Trajectory[]): Trajectory[][] => {
  const parents = new Map<string, string>()
  const root = (key: string): string => {
    let at = key
    for (let parent = parents.get(at); parent !== undefined && parent !== at; parent = parents.get(at)) at = parent
    parents.set(key, at)
    return at
  }
  for (const trajectory of trajectories) {
    const [first, ...others] = keysOf(trajectory)
    for (const other of others) parents.set(root(other), root(first ?? other))
  }
  const groups = new Map<string, Trajectory[]>()
  for (const trajectory of trajectories) {
    const name = root(keysOf(trajectory)[0] ?? trajectory.taskId)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [trajectory])
    else group.push(trajectory)
  }
  return [...groups.values()]
}

export interface Splits {
  readonly train: Trajectory[]
  readonly heldout: Trajectory[]
}

/**
 * Cuts a component that is too big to hold out whole (recordings cross every task with every payload): a share of its
 * tasks and payloads is held out; what crosses the line is in neither split.
 */
const cutComponent = (
  component: readonly Trajectory[],
  share: number,
  seed: number,
  into: Splits,
  reject: Reject,
): void => {
  const keys = [...new Set(component.flatMap(keysOf))].toSorted()
  const held = new Set(shuffle(keys, random(seed, 'cut', keys[0] ?? '')).slice(0, Math.ceil(keys.length * share)))
  for (const trajectory of component) {
    const inside = keysOf(trajectory).filter((key) => held.has(key)).length
    if (inside === 0) into.train.push(trajectory)
    else if (inside === keysOf(trajectory).length) into.heldout.push(trajectory)
    else reject({ node: null, reason: 'crosses_splits' })
  }
}

/** A held-out component may hold at most this part of all; a bigger one is cut. */
const largestWhole = 0.1

/**
 * Splits trajectories by task and payload, never by prompt. Whole components are held out until they make up `share`
 * of all; where only big ones are left, those are cut. Trajectories whose maker reserved them for a split stay there.
 */
export const splitTrajectories = (
  trajectories: readonly Trajectory[],
  options: { readonly seed: number; readonly share: number },
  reject: Reject,
): Splits => {
  const into: Splits = { train: [], heldout: [] }
  const free: Trajectory[] = []
  for (const trajectory of trajectories) (trajectory.split === null ? free : into[trajectory.split]).push(trajectory)
  const all = shuffle(components(free), random(options.seed, 'split'))
  const big = all.filter((component) => component.length > free.length * largestWhole)
  const small = all.filter((component) => component.length <= free.length * largestWhole)
  let held = 0
  for (const component of small) {
    const hold = held < free.length * options.share
    if (hold) held += component.length
    ;(hold ? into.heldout : into.train).push(...component)
  }
  const enough = held >= (free.length * options.share) / 2
  for (const component of big) {
    if (enough) into.train.push(...component)
    // Both ends must be held out, hence the root: a share of pairs needs a larger share of keys.
    else cutComponent(component, Math.sqrt(options.share), options.seed, into, reject)
  }
  return into
}

const namesOf = ({ origin }: Prompt): string[] => [
  ...keysOf(origin),
  ...origin.trajectoryIds.map((id) => `trajectory ${id}`),
]

/** Throws when a task, payload or trajectory is behind prompts of both splits. */
export const assertDisjoint = (prompts: readonly Prompt[]): void => {
  const seen = new Map<string, Split>()
  for (const prompt of prompts) {
    for (const name of namesOf(prompt)) {
      const before = seen.get(name) ?? prompt.split
      if (before !== prompt.split)
        throw new PipelineError('pool', `${name} is in both splits (prompt ${prompt.id})`, {
          remedy: 'Give it one split, or none and let the builder choose.',
        })
      seen.set(name, before)
    }
  }
}
