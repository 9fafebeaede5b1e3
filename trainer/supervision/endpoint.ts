import { once } from 'node:events'
import { PipelineError } from '../../data/errors.ts'
import type { AdapterRef, ReloadCheck } from '../sampler.ts'
import { MissingPolicy, ServerLost } from '../vllm/failures.ts'
import type { VllmSampler } from '../vllm-sampler.ts'

/** A server that may be lost, and how it comes back. */
export interface ServerSource {
  /** Where it is or what it is, for messages; tells it from its neighbours. */
  readonly name: string
  /** The client of the server as it runs now. */
  readonly client: VllmSampler
  /** How long somebody who has nobody else to ask waits for it. */
  readonly patienceMs: number
  /** How often it may be lost within an hour before it is given up. */
  readonly mostLosses: number
  /**
   * Resolves with the client to use from then on when the server answers again: it may have to be started anew. Rejects when
   * it will not come back.
   */
  revive(signal: AbortSignal, say: (text: string) => void): Promise<VllmSampler>
}

export interface EndpointContext {
  /** What each server must have loaded. */
  readonly wanted: ReadonlyMap<string, AdapterRef>
  readonly check: () => ReloadCheck | undefined
  readonly say: (text: string) => void
  /** Aborted at the end: nothing is brought back any more. */
  readonly closing: AbortSignal
}

const hourMs = 3_600_000

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`

/**
 * One server of several: in use, or lost and on its way back, or given up. It is in use again only when it has loaded
 * everything that is wanted and proved it, base model included.
 */
export class Endpoint {
  readonly name: string
  readonly patienceMs: number
  /** Requests that it works on. */
  outstanding = 0
  readonly #source: ServerSource
  readonly #context: EndpointContext
  #client: VllmSampler
  #losses = 0
  /** When it was lost, of the last hour. */
  #lately: number[] = []
  #returning: Promise<void> | null = null
  #givenUp: Error | null = null

  constructor(source: ServerSource, context: EndpointContext) {
    this.name = source.name
    this.patienceMs = source.patienceMs
    this.#source = source
    this.#context = context
    this.#client = source.client
  }

  get client(): VllmSampler {
    return this.#client
  }

  get isUp(): boolean {
    return this.#returning === null && this.#givenUp === null
  }

  /** Why it is out of use for good. */
  get givenUp(): Error | null {
    return this.#givenUp
  }

  /** Tells what was answered before a loss from what was answered after it. */
  get losses(): number {
    return this.#losses
  }

  /** Settles when it is in use again or given up; never rejects. */
  get returning(): Promise<void> {
    return this.#returning ?? Promise.resolve()
  }

  /** Does this failure of its client mean that the server is lost, or that it was, and has forgotten what it had loaded? */
  isLoss(error: unknown, { gone }: Pick<VllmSampler, 'gone'>): boolean {
    if (error instanceof ServerLost || (gone?.aborted === true && error === gone.reason)) return true
    return error instanceof MissingPolicy && this.#context.wanted.has(error.policy)
  }

  /** Takes the server out of use and begins to bring it back. `losses` as they were when the failed request was sent. */
  lose(error: unknown, losses: number): void {
    // Somebody else saw the same end, or it has come back since.
    if (losses !== this.#losses || !this.isUp) return
    this.#count()
    this.#returning = this.#comeBack(performance.now())
    this.#context.say(`${this.name} is lost: ${(error as Error).message}`)
  }

  async #comeBack(started: number): Promise<void> {
    const { say, closing } = this.#context
    try {
      await this.#bringBack()
    } catch (error) {
      this.#givenUp = error as Error
      this.#returning = null
      if (!closing.aborted) say(`${this.name} is given up: ${(error as Error).message}`)
      return
    }
    say(`${this.name} is back after ${seconds(started)}; ${this.#whatIsThere()}`)
  }

  #whatIsThere(): string {
    const { wanted, check } = this.#context
    const names = [this.#client.baseName, ...wanted.keys()].join(', ')
    return `there again${check() === undefined ? '' : ' and proved'}: ${names}`
  }

  async #bringBack(): Promise<void> {
    const { closing, say } = this.#context
    for (;;) {
      if (this.#lately.length > this.#source.mostLosses) throw this.#lostTooOften()
      this.#client = await this.#source.revive(closing, say)
      try {
        await this.#deliver()
        return
      } catch (error) {
        if (closing.aborted || !this.isLoss(error, this.#client)) throw error
        this.#count()
      }
    }
  }

  #count(): void {
    const now = performance.now()
    this.#losses += 1
    this.#lately = [...this.#lately.filter((at) => now - at < hourMs), now]
  }

  /** Loads and proves everything that is wanted, also what becomes wanted meanwhile; then, in the same turn, is in use. */
  async #deliver(): Promise<void> {
    const { wanted, closing } = this.#context
    await this.#prove(this.#client.baseName)
    const done = new Set<string>()
    for (;;) {
      const next = [...wanted].find(([name]) => !done.has(name))
      if (next === undefined) break
      const [name, adapter] = next
      // One after the other: the newest must not push the one before it out.
      try {
        await this.#client.load(name, adapter, closing)
        if (wanted.has(name)) await this.#prove(name)
      } catch (error) {
        // Of one that was let go meanwhile, files and names may be gone: that says nothing about the server.
        if (wanted.has(name) || closing.aborted || this.isLoss(error, this.#client)) throw error
      }
      done.add(name)
    }
    this.#returning = null
  }

  async #prove(name: string): Promise<void> {
    await this.#context.check()?.(name, this.#client, this.name, this.#context.closing)
  }

  #lostTooOften(): PipelineError {
    const { mostLosses } = this.#source
    const reason: unknown = this.#client.gone?.reason
    return new PipelineError('sampler', `${this.name} was lost more than ${mostLosses} times within an hour`, {
      remedy: 'Find out why it ends (its log says), then resume the run.',
      retryable: true,
      cause: reason,
    })
  }
}

/** Waits for one of several endpoints to settle, for the deadline, or for whoever waits to give up. */
export const anyReturn = async (
  endpoints: readonly Endpoint[],
  deadline: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const stop = new AbortController()
  const ends = signal === undefined ? deadline : AbortSignal.any([deadline, signal])
  if (ends.aborted) return
  try {
    await Promise.race([
      ...endpoints.map(({ returning }) => returning),
      once(ends, 'abort', { signal: stop.signal }).catch(() => undefined),
    ])
  } finally {
    stop.abort()
  }
}
