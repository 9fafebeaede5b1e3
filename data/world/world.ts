import type { Call } from '../records/operation.ts'
import type { CallKind, EndpointDoc } from '../records/trajectory.ts'
import { appNames, checkArgs } from './app.ts'
import type { App, AppName, Failure } from './app.ts'
import { appsByName } from './apps/all.ts'
import { Journal } from './journal.ts'
import type { Change } from './journal.ts'
import type { Rng } from './random.ts'
import type { Draw } from './values/draw.ts'

/** What a call brought. A failed call changed nothing. */
export interface Outcome {
  readonly ok: boolean
  readonly kind: CallKind
  readonly observation: string
  readonly stateChanged: boolean
}

/** An opaque mark to restore to. */
export type Snapshot = number

/**
 * Nine apps with real state. An app is seeded when it is first touched, from its own random stream,
 * so that what is in it does not depend on the order of use.
 */
export class World {
  private readonly journal = new Journal()
  private readonly states = new Map<AppName, unknown>()
  private fault: Failure | null = null

  private readonly rng: Rng
  private readonly draw: Draw

  /** rng decides how much is in the apps, draw which names. */
  constructor(rng: Rng, draw: Draw) {
    this.rng = rng
    this.draw = draw
  }

  /** The state of one app, for seeding and for tests; calls are the way to change it. */
  state<S>(app: App<S>): S {
    const known = this.states.get(app.name)
    if (known !== undefined) return known as S
    const opened = app.open({ journal: this.journal, rng: this.rng.fork(app.name), draw: this.draw })
    this.states.set(app.name, opened)
    return opened
  }

  /** Makes the next call fail, as a busy or a closed service would. */
  failNext(failure: Failure): void {
    this.fault = failure
  }

  /** Runs one call. Unknown names and bad arguments are failures, as over HTTP, never exceptions. */
  execute(call: Call): Outcome {
    const app = appsByName.get(call.app)
    const endpoint = app?.endpoints.get(call.endpoint)
    if (app === undefined || endpoint === undefined) {
      return failed({ code: 404, reason: 'no such endpoint' }, 'session')
    }
    const fault = this.fault ?? checkArgs(endpoint.params, call.args)
    this.fault = null
    if (fault !== null) return failed(fault, endpoint.kind)
    const before = this.snapshot()
    const result = endpoint.run(this.state(app), call.args)
    if (typeof result !== 'string') {
      this.restore(before)
      return failed(result, endpoint.kind)
    }
    const stateChanged = this.journal.changesSince(before).length > 0
    if (stateChanged && endpoint.kind === 'read') throw new Error(`${call.app}.${call.endpoint} is a read and wrote`)
    return { ok: true, kind: endpoint.kind, observation: result, stateChanged }
  }

  /** Whether a call reads or writes; undefined when there is no such endpoint. */
  kindOf(call: Call): CallKind | undefined {
    return appsByName.get(call.app)?.endpoints.get(call.endpoint)?.kind
  }

  /** Documentation of some apps, or of all. */
  docs(apps: readonly AppName[] = appNames): EndpointDoc[] {
    return apps.flatMap((name) => [...(appsByName.get(name)?.docs ?? [])])
  }

  /** A mark of the present state; O(1). */
  snapshot(): Snapshot {
    return this.journal.length
  }

  /** Goes back to a mark, in O(changes since). Later marks become invalid. */
  restore(mark: Snapshot): void {
    this.journal.revertTo(mark)
  }

  /** Net changes since a mark; without one, since the world was made. */
  diff(since: Snapshot = 0): Change[] {
    return this.journal.changesSince(since)
  }
}

const failed = (failure: Failure, kind: CallKind): Outcome => ({
  ok: false,
  kind,
  observation: `error ${failure.code}: ${failure.reason}`,
  stateChanged: false,
})
