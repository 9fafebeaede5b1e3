import { PipelineError } from '../../data/errors.ts'
import type { Completion } from '../../data/records/rollout.ts'
import type { AdapterRef, Examinee, ReloadCheck, SampleRequest, Sampler, SamplerNotice } from '../sampler.ts'
import type { VllmSampler } from '../vllm-sampler.ts'
import { anyReturn, Endpoint, type ServerSource } from './endpoint.ts'

/** Of a request whose server was lost: another server, or the same one later, has to be asked again. */
const lost = Symbol('lost')

type Ask<T> = (client: VllmSampler, name: string) => Promise<T>

const leastBusy = (endpoints: readonly Endpoint[]): Endpoint =>
  endpoints.reduce((best, one) => (one.outstanding < best.outstanding ? one : best))

/**
 * A sampler over one or more servers that may be lost and come back. A request is one whole group, so that its prompt is
 * computed once, and goes to the server with the fewest requests. What a lost server did not answer is asked again with the
 * same seed, elsewhere or there; what had arrived stays. Adapters are loaded and proved on each server.
 */
export class Endpoints implements Sampler {
  readonly baseName: string
  readonly #endpoints: readonly Endpoint[]
  readonly #wanted = new Map<string, AdapterRef>()
  readonly #closing = new AbortController()
  readonly #listeners = new Set<(notice: SamplerNotice) => void>()
  #check: ReloadCheck | undefined
  #paused = false

  /** The servers run and serve the same base model under the same name. */
  constructor(sources: readonly [ServerSource, ...ServerSource[]]) {
    this.baseName = sources[0].client.baseName
    const context = {
      wanted: this.#wanted,
      check: () => this.#check,
      say: (text: string) => this.#tell(text),
      closing: this.#closing.signal,
    }
    this.#endpoints = sources.map((source) => new Endpoint(source, context))
  }

  async health(signal?: AbortSignal): Promise<void> {
    await this.#onEvery((client) => client.health(signal), signal)
  }

  /** Names that at least one server lists. */
  async policies(signal?: AbortSignal): Promise<string[]> {
    const lists = await this.#onEvery((client) => client.policies(signal), signal)
    return [...new Set(lists.flat())]
  }

  sample(request: SampleRequest, signal?: AbortSignal): Promise<Completion[]> {
    return this.#onOne((client) => client.sample(request, signal), signal)
  }

  tokenLogprobs(policy: string, sequences: readonly (readonly number[])[], signal?: AbortSignal): Promise<number[][]> {
    return this.#onOne((client) => client.tokenLogprobs(policy, sequences, signal), signal)
  }

  async load(policy: string, adapter: AdapterRef, signal?: AbortSignal): Promise<void> {
    // Wanted before it is sent: a server that comes back meanwhile must have it too.
    this.#wanted.set(policy, adapter)
    try {
      await this.#onEvery((client) => client.load(policy, adapter, signal), signal)
    } catch (error) {
      this.#wanted.delete(policy)
      throw error
    }
  }

  async unload(policy: string, signal?: AbortSignal): Promise<void> {
    this.#wanted.delete(policy)
    await this.#onEvery((client) => client.unload(policy, signal), signal)
  }

  onEvery<T>(ask: (server: Examinee, address: string) => Promise<T>, signal?: AbortSignal): Promise<T[]> {
    return this.#onEvery(ask, signal)
  }

  onReload(check: ReloadCheck): void {
    this.#check = check
  }

  watch(listener: (notice: SamplerNotice) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Brings nothing back any more. Resolves when nothing is on its way back. */
  async close(): Promise<void> {
    this.#closing.abort(new PipelineError('sampler', 'the sampler was closed'))
    await Promise.all(this.#endpoints.map(({ returning }) => returning))
  }

  async #onOne<T>(ask: Ask<T>, signal: AbortSignal | undefined): Promise<T> {
    for (;;) {
      const answer = await this.#ask(leastBusy(await this.#inUse(signal)), ask, signal)
      if (answer !== lost) return answer
    }
  }

  async #onEvery<T>(ask: Ask<T>, signal: AbortSignal | undefined): Promise<T[]> {
    for (;;) {
      const inUse = await this.#inUse(signal)
      const answers = await Promise.all(inUse.map((endpoint) => this.#ask(endpoint, ask, signal)))
      const arrived = answers.flatMap((answer) => (answer === lost ? [] : [answer as T]))
      if (arrived.length > 0) return arrived
    }
  }

  async #ask<T>(endpoint: Endpoint, ask: Ask<T>, signal: AbortSignal | undefined): Promise<T | typeof lost> {
    const { losses, client, name } = endpoint
    endpoint.outstanding += 1
    try {
      const answer = await ask(client, name)
      // Lost meanwhile: whoever answered may be a server that was started anew and has proved nothing yet.
      return endpoint.isUp && endpoint.losses === losses ? answer : lost
    } catch (error) {
      signal?.throwIfAborted()
      if (!endpoint.isLoss(error, client)) throw error
      endpoint.lose(error, losses)
      return lost
    } finally {
      endpoint.outstanding -= 1
    }
  }

  /** The servers in use, at least one; waits for one to come back as long as the most patient of them allows. */
  async #inUse(signal: AbortSignal | undefined): Promise<Endpoint[]> {
    let deadline: AbortSignal | undefined
    for (;;) {
      signal?.throwIfAborted()
      this.#closing.signal.throwIfAborted()
      const up = this.#endpoints.filter(({ isUp }) => isUp)
      if (up.length > 0) return up
      const returning = this.#endpoints.filter(({ givenUp }) => givenUp === null)
      if (returning.length === 0) throw this.#noneLeft()
      const patienceMs = Math.max(...returning.map((endpoint) => endpoint.patienceMs))
      deadline ??= AbortSignal.timeout(patienceMs)
      if (deadline.aborted) throw stillAway(returning, patienceMs)
      await anyReturn(returning, deadline, signal)
    }
  }

  #noneLeft(): Error {
    const [first, ...others] = this.#endpoints.flatMap(({ name, givenUp }) =>
      givenUp === null ? [] : [{ name, givenUp }],
    )
    if (first === undefined) return new Error('no server is in use, and none is given up')
    if (others.length === 0) return first.givenUp
    const lines = [first, ...others].map(({ name, givenUp }) => `  - ${name}: ${givenUp.message}`)
    return new PipelineError('sampler', `no sampler is left\n${lines.join('\n')}`, {
      remedy: 'Bring one back, then resume the run.',
      retryable: true,
      cause: first.givenUp,
    })
  }

  #tell(text: string): void {
    const isUp = this.#endpoints.some((endpoint) => endpoint.isUp)
    const kind = isUp === this.#paused ? (isUp ? 'continued' : 'paused') : 'warning'
    this.#paused = !isUp
    for (const listener of this.#listeners) listener({ kind, text })
  }
}

const stillAway = (endpoints: readonly Endpoint[], patienceMs: number): PipelineError => {
  const names = endpoints.map(({ name }) => name).join(', ')
  return new PipelineError('sampler', `${names} did not come back within ${(patienceMs / 1000).toFixed(0)} s`, {
    remedy: 'Start it again, then resume the run.',
    retryable: true,
  })
}
