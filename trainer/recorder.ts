import { hostname } from 'node:os'
import type { GroupAdvantages } from '../data/records/advantage.ts'
import type { StepMetrics } from '../data/records/metrics.ts'
import type { RolloutRecord, RunEvent, RunStatus } from '../data/records/run.ts'
import type { UpdateBatch, UpdateResult } from '../data/records/update.ts'
import { writeFileWhole } from '../data/store/atomic.ts'
import { appendJsonl } from '../data/store/jsonl.ts'
import type { LoopState } from './checkpoint.ts'
import { processStart } from './lock.ts'
import type { RunDirectory } from './run-directory.ts'
import type { AssessedGroup } from './score.ts'
import { Activity } from './supervision/activity.ts'

/** Writes what one attempt of a run does. */
export class Recorder {
  readonly #run: RunDirectory
  readonly #attempt: number
  readonly #steps: number
  /** Writes that were begun for the current step and are not waited for yet. */
  #open: Promise<void>[] = []
  /** The last of the writes that must not overtake each other. */
  #last: Promise<unknown> = Promise.resolve()
  /** What the run does, or did before it had to wait. */
  #doing: RunStatus['state'] = 'starting'
  #status: RunStatus | null = null
  readonly #startedAt = processStart(process.pid) ?? ''
  /** What it is at in detail; told by whoever does it. */
  readonly activity = new Activity()

  constructor(run: RunDirectory, attempt: number, steps: number) {
    this.#run = run
    this.#attempt = attempt
    this.#steps = steps
  }

  /** Begins to write a step's groups, beside whatever comes next. */
  rollouts(step: number, groups: readonly AssessedGroup[], advantages: readonly GroupAdvantages[]): void {
    const records = groups.flatMap(({ group, assessments }, i): RolloutRecord[] => {
      const own = advantages[i]
      if (own === undefined) return []
      const verdicts = assessments.map(({ verdict }) => verdict)
      return [
        { attempt: this.#attempt, group, verdicts, scores: assessments.map(({ score }) => score), advantages: own },
      ]
    })
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    this.#begin(writeFileWhole(this.#run.rollouts(step), text))
  }

  /** Begins to write an update with its answer: the request can be sent again as it is. */
  update(batch: UpdateBatch, result: UpdateResult): void {
    this.#begin(writeFileWhole(this.#run.update(batch.step), `${JSON.stringify({ batch, result })}\n`))
  }

  /** Begins to write that the run waits for something. */
  paused(loop: LoopState | null, message: string): void {
    this.#begin(this.#inOrder(() => this.event('paused', message, loop?.nextStep ?? null)))
    this.#begin(this.status('paused', loop, message))
  }

  /** Begins to write that it does again what it did before. */
  continued(loop: LoopState | null, message: string): void {
    this.activity.resume()
    this.#begin(this.#inOrder(() => this.event('continued', message, loop?.nextStep ?? null)))
    this.#begin(this.status(this.#doing, loop))
  }

  /** Begins to write a warning. */
  warning(message: string): void {
    this.#begin(this.event('warning', message))
  }

  /** Ends a step: all of its files are written before its line in metrics.jsonl says that it happened. */
  async finishStep(metrics: StepMetrics): Promise<void> {
    await this.settle()
    await appendJsonl(this.#run.metrics, [metrics])
  }

  /** Waits for writes that are under way. */
  async settle(): Promise<void> {
    const open = this.#open
    this.#open = []
    await Promise.all(open)
  }

  /** Does it wait for judge or sampler to come back? */
  get isPaused(): boolean {
    return this.#status?.state === 'paused'
  }

  /** Writes status.json anew as it is, to show that the process lives. */
  async beat(): Promise<void> {
    const status = this.#status
    if (status === null) return
    await this.#inOrder(async () => {
      // Whatever was told meanwhile is newer.
      if (status === this.#status) await this.#run.writeStatus({ ...status, heartbeat: this.#heartbeat() })
    })
  }

  /** Writes status.json. `loop` is the state after the last complete step; null before the first start. */
  async status(state: RunStatus['state'], loop: LoopState | null, message: string | null = null): Promise<void> {
    if (state !== 'paused') this.#doing = state
    const status: RunStatus = {
      state,
      step: loop?.nextStep ?? 0,
      steps: this.#steps,
      policyVersion: loop?.policyVersion ?? 0,
      adapter: adapterPath(loop),
      attempt: this.#attempt,
      pid: process.pid,
      updatedAt: new Date().toISOString(),
      message,
      heartbeat: this.#heartbeat(),
    }
    this.#status = status
    // The judge may be lost and found while something else is told.
    await this.#inOrder(() => this.#run.writeStatus(status))
  }

  async event(kind: RunEvent['kind'], message: string, step: number | null = null): Promise<void> {
    await this.#run.appendEvent({ at: new Date().toISOString(), attempt: this.#attempt, step, kind, message })
  }

  #heartbeat(): NonNullable<RunStatus['heartbeat']> {
    const { phase, since } = this.activity
    const now = new Date().toISOString()
    return { at: now, startedAt: this.#startedAt, host: hostname(), phase, since: new Date(since).toISOString() }
  }

  #inOrder(write: () => Promise<void>): Promise<void> {
    const done = this.#last.then(write)
    // A failure is its own writer's.
    this.#last = done.catch(() => undefined)
    return done
  }

  #begin(writing: Promise<void>): void {
    // A failure is reported where it is waited for; until then it must not count as unhandled.
    writing.catch(() => undefined)
    this.#open.push(writing)
  }
}

/** Directory of a state's adapter relative to the run; null at version 0. */
export const adapterPath = (loop: LoopState | null): string | null =>
  loop?.adapter == null ? null : `adapters/${loop.adapter}`
