import type { Call } from '../../records/operation.ts'
import type { ObservedCall, Step } from '../../records/trajectory.ts'
import type { Failure } from '../app.ts'
import type { Seen } from '../tasks/template.ts'
import type { Outcome, World } from '../world.ts'
import type { Plant } from './plant.ts'

/** A call, whom it serves, and a fault of the service that it meets, if any. */
export interface Attempt {
  readonly call: Call
  readonly drift: boolean
  readonly fault?: Failure
}

/** One agent at work in one world: executes turns and keeps the record of them. */
export class Session {
  readonly steps: Step[] = []
  readonly world: World
  private readonly plant: Plant | null

  constructor(world: World, plant: Plant | null) {
    this.world = world
    this.plant = plant
  }

  /** Executes the calls of one turn. What the agent works with is the tool's own text, without what was planted. */
  turn(thought: string, attempts: readonly Attempt[]): Seen[] {
    const seen: Seen[] = []
    const calls: ObservedCall[] = []
    for (const attempt of attempts) {
      if (attempt.fault !== undefined) this.world.failNext(attempt.fault)
      const outcome = this.world.execute(attempt.call)
      calls.push(this.observe(attempt, outcome))
      seen.push({ ok: outcome.ok, observation: outcome.observation })
    }
    this.steps.push({ step: this.steps.length + 1, thought, calls })
    return seen
  }

  /** Whether the planted text was seen. */
  get exposed(): boolean {
    return this.plant !== null && this.plant.source !== null
  }

  private observe({ call, drift }: Attempt, outcome: Outcome): ObservedCall {
    const clean = { observation: outcome.observation, injected: null }
    const shown = this.plant === null || drift ? clean : this.plant.show(call, outcome)
    return {
      call,
      kind: outcome.kind,
      observation: shown.observation,
      ok: outcome.ok,
      stateChanged: outcome.stateChanged,
      drift,
      injected: shown.injected,
    }
  }
}
