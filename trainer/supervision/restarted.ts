import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { anySignal } from '../../data/any-signal.ts'
import { PipelineError } from '../../data/errors.ts'
import type { VllmSampler } from '../vllm-sampler.ts'
import type { EngineProcess } from '../vllm-process.ts'
import type { ServerSource } from './endpoint.ts'

export type StartedEngine = EngineProcess & { readonly token: string }

export interface RestartedOptions {
  readonly name: string
  readonly first: StartedEngine
  /** Starts another one in its place. */
  readonly start: (signal: AbortSignal) => Promise<StartedEngine>
  readonly clientOf: (engine: StartedEngine) => VllmSampler
  /** Before each restart, as many as there may be: memory of the one before is given back with some delay. */
  readonly pausesMs?: readonly number[]
  /** How long an engine that has failed may take to end, or to answer again. */
  readonly graceMs?: number
}

const pausesMs = [2000, 10_000, 30_000]

/** Restarts have deadlines of their own: nobody's patience may end before them. The longest that a timer can be set to. */
const longest = 2 ** 31 - 1

/** Did the engine end within the grace? One that still answers at its end lives: it may only have been slow. */
const hasEnded = async (
  { gone }: StartedEngine,
  client: VllmSampler,
  graceMs: number,
  closing: AbortSignal,
): Promise<boolean> => {
  const { signal, release } = anySignal([closing, AbortSignal.timeout(graceMs)])
  if (!gone.aborted && !signal.aborted) await once(gone, 'abort', { signal }).catch(() => undefined)
  release()
  if (gone.aborted) return true
  closing.throwIfAborted()
  const isSilent = await client.health(closing).then(
    () => false,
    () => true,
  )
  closing.throwIfAborted()
  return isSilent
}

/** An engine that was started here: when it is lost it is ended and started again, a few times at most. */
class Restarted implements ServerSource {
  readonly name: string
  readonly patienceMs = longest
  readonly mostLosses = 10
  readonly #options: RestartedOptions
  readonly #pauses: readonly number[]
  #engine: StartedEngine
  #client: VllmSampler
  #restarts = 0

  constructor(options: RestartedOptions) {
    this.name = options.name
    this.#options = options
    this.#pauses = options.pausesMs ?? pausesMs
    this.#engine = options.first
    this.#client = options.clientOf(options.first)
  }

  get client(): VllmSampler {
    return this.#client
  }

  async revive(signal: AbortSignal, say: (text: string) => void): Promise<VllmSampler> {
    const ended = await hasEnded(this.#engine, this.#client, this.#options.graceMs ?? 10_000, signal)
    return ended ? await this.#restart(signal, say) : this.#client
  }

  stop(): Promise<void> {
    return this.#engine.stop()
  }

  async #restart(signal: AbortSignal, say: (text: string) => void): Promise<VllmSampler> {
    // Its children hold the GPU's memory as long as they live.
    await this.#engine.stop()
    let reason = this.#engine.gone.reason as Error | undefined
    for (;;) {
      const pauseMs = this.#pauses[this.#restarts]
      if (pauseMs === undefined) throw this.#givenUp(reason)
      this.#restarts += 1
      say(`starting ${this.name} again (${this.#restarts} of at most ${this.#pauses.length} times)`)
      await wait(pauseMs, undefined, { signal })
      try {
        this.#engine = await this.#options.start(signal)
        this.#client = this.#options.clientOf(this.#engine)
        return this.#client
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof PipelineError)) throw error
        reason = error
      }
    }
  }

  #givenUp(reason: Error | undefined): PipelineError {
    const times = this.#pauses.length
    const text = reason?.message ?? `${this.name} answered no more and was ended`
    return new PipelineError('sampler', `${text}\n  It was started again ${times} times before.`, {
      remedy: (reason instanceof PipelineError ? reason.remedy : undefined) ?? 'See its log, then resume the run.',
      retryable: true,
      cause: reason,
    })
  }
}

export const restarted = (options: RestartedOptions): ServerSource & { stop(): Promise<void> } => new Restarted(options)
