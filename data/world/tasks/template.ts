import type { Call } from '../../records/operation.ts'
import { idIn } from '../app.ts'
import type { AppName, Args } from '../app.ts'
import type { Change, Row } from '../journal.ts'
import type { Rng } from '../random.ts'
import type { Draw } from '../values/draw.ts'
import type { World } from '../world.ts'

/** What the agent sees of a call that it made. */
export interface Seen {
  readonly ok: boolean
  readonly observation: string
}

/** A scripted solution: yields the calls of one step, gets what came back. */
export type Solution = Generator<readonly Call[], void, readonly Seen[]>

/**
 * One change that the task is for. was null: a record is created; now null: it is removed; else the fields of `now`
 * change and every other field stays.
 */
export interface Goal {
  readonly collection: string
  readonly was: Row | null
  readonly now: Row | null
}

type Params = Readonly<Record<string, string | number>>

interface TemplateInput<P extends Params> {
  readonly id: string
  readonly apps: readonly AppName[]
  /** Parameters; at least one is an identifying value, so that ids of two splits never meet. */
  readonly draw: (draw: Draw) => P
  /** Wordings; {name} stands for a parameter. One sentence each. */
  readonly texts: readonly string[]
  /** Puts into the initial state what the task is about. */
  readonly setup: (world: World, params: P) => void
  readonly solve: (params: P) => Solution
  /** Absent: a task that only reads. */
  readonly goals?: (params: P) => readonly Goal[]
}

/** One instance of a template. */
export interface Task {
  /** Template and parameters: equal ids are equal tasks. */
  readonly id: string
  readonly templateId: string
  readonly apps: readonly AppName[]
  readonly kind: 'read' | 'write'
  readonly params: Params
  /** The request in one sentence, in one of its wordings. */
  readonly text: (rng: Rng) => string
  readonly goals: readonly Goal[]
  readonly setup: (world: World) => void
  readonly solve: () => Solution
}

export interface TaskTemplate {
  readonly id: string
  readonly apps: readonly AppName[]
  readonly kind: 'read' | 'write'
  readonly instantiate: (draw: Draw) => Task
}

const fill = (text: string, params: Params): string =>
  text.replace(/\{(\w+)\}/g, (_whole, name: string) => String(params[name]))

/** Hides the parameter type of a template, so that all of them fit in one list. */
export const defineTask = <P extends Params>(input: TemplateInput<P>): TaskTemplate => {
  const kind = input.goals === undefined ? 'read' : 'write'
  return {
    id: input.id,
    apps: input.apps,
    kind,
    instantiate: (draw) => {
      const params = input.draw(draw)
      const values = Object.entries(params).map(([name, value]) => `${name}=${value}`)
      return {
        id: `${input.id}(${values.join(',')})`,
        templateId: input.id,
        apps: input.apps,
        kind,
        params,
        text: (rng) => fill(rng.pick(input.texts), params),
        goals: input.goals?.(params) ?? [],
        setup: (world) => input.setup(world, params),
        solve: () => input.solve(params),
      }
    },
  }
}

/** A call from its written name. */
export const call = (name: `${AppName}.${string}`, args: Args): Call => {
  const dot = name.indexOf('.')
  return { app: name.slice(0, dot), endpoint: name.slice(dot + 1), args }
}

/** The first id that an observation of the last step shows. */
export const idOf = (seen: readonly Seen[], index = 0): string => idIn(seen[index]?.observation ?? '')

export const created = (collection: string, now: Row): Goal => ({ collection, was: null, now })
export const removed = (collection: string, was: Row): Goal => ({ collection, was, now: null })
export const changed = (collection: string, was: Row, now: Row): Goal => ({ collection, was, now })

/** Both sides absent, or the wanted fields are in the row. */
const fits = (row: Row | null, wanted: Row | null): boolean => {
  if (row === null || wanted === null) return row === wanted
  return Object.entries(wanted).every(([key, value]) => row[key] === value)
}

const changesOnly = (fields: Row, before: Row, after: Row): boolean =>
  Object.keys(after).every((key) => key in fields || before[key] === after[key])

const meets = ({ collection, before, after }: Change, goal: Goal): boolean => {
  if (collection !== goal.collection || !fits(before, goal.was) || !fits(after, goal.now)) return false
  return before === null || after === null || goal.now === null || changesOnly(goal.now, before, after)
}

/** What a check of the final state found: goals that were not met, and changes that nobody asked for. */
export interface CheckResult {
  readonly passed: boolean
  readonly unmet: readonly Goal[]
  readonly stray: readonly Change[]
}

/** Pairs each goal with one change of its own. Passed: every goal met and nothing else changed. */
export const checkGoals = (changes: readonly Change[], goals: readonly Goal[]): CheckResult => {
  const stray = [...changes]
  const unmet = goals.filter((goal) => {
    const at = stray.findIndex((change) => meets(change, goal))
    if (at === -1) return true
    stray.splice(at, 1)
    return false
  })
  return { passed: unmet.length === 0 && stray.length === 0, unmet, stray }
}
