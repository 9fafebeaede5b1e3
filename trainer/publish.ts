import { PipelineError } from '../data/errors.ts'
import { CanaryCheck, type Canaries, type CanaryReport, type Logprobs } from './canary.ts'
import type { Policy } from './generate.ts'
import type { Learner } from './learner.ts'
import { askEvery, type AdapterRef, type Examinee, type Sampler } from './sampler.ts'

export interface PublisherOptions {
  readonly sampler: Sampler
  readonly learner: Learner
  readonly runId: string
  /** Part of names from the second attempt on: a resumed run makes other weights of a version number than the attempt before it. */
  readonly attempt: number
  readonly canaries: Canaries
  readonly dtype: string
  /** Told about housekeeping that failed and does no harm. */
  readonly onWarning: (message: string) => void
}

export interface Published extends CanaryReport {
  readonly policy: Policy
  /** Name of the adapter's directory under adapters/. */
  readonly directory: string
}

interface Delivered {
  readonly policy: Policy
  readonly directory: string
}

/** How many versions stay loaded: the one sampled from and the one before it. */
const keptLoaded = 2

const padded = (version: number): string => String(version).padStart(6, '0')

const attemptPart = (attempt: number): string => (attempt === 1 ? '' : `a${attempt}-`)

/** Does this name belong to the run, whatever the attempt? */
const isOwnPolicy = (runId: string, name: string): boolean =>
  name.startsWith(`policy-${runId}-`) && /^(a\d+-)?\d{6,}$/.test(name.slice(`policy-${runId}-`.length))

/**
 * Brings each new policy version to the sampler: a new immutable directory, a new name, and proof before anybody samples
 * from it. Any failure is an error of the sampler or of the worker; nothing ever trains on an unproved version.
 */
export class Publisher {
  readonly #options: PublisherOptions
  readonly #canary: CanaryCheck
  readonly #delivered: Delivered[] = []
  readonly #kept = new Set<string>()

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#canary = new CanaryCheck(options.canaries, options.sampler, options.learner, options.dtype)
    options.sampler.onReload?.((name, server, address, signal) => this.#proveAgain(name, server, address, signal))
  }

  /** Proves that the sampler's base model is the worker's. The policy of version 0. */
  async openBase(signal?: AbortSignal): Promise<Policy> {
    const { sampler } = this.#options
    this.#canary.expect(sampler.baseName, this.#canary.measure('base', signal))
    await this.#requireListed(sampler.baseName, signal)
    await this.#canary.verify(sampler.baseName, signal)
    return { version: 0, name: sampler.baseName }
  }

  /**
   * Delivers version 0, which changes nothing, as every later version will be: what keeps a sampler from loading adapters (a
   * rank that is too high, a directory that it does not see) comes to light before a step is made.
   */
  async rehearse(signal?: AbortSignal): Promise<void> {
    await this.publish(0, signal)
  }

  /** Saves the worker's current version, loads it under its new name, verifies it, and lets go of older ones. */
  async publish(version: number, signal?: AbortSignal): Promise<Published> {
    const part = attemptPart(this.#options.attempt)
    const directory = `${part}v${padded(version)}`
    const measuring = this.#measure(signal)
    const adapter = await this.#options.learner.saveAdapter(directory, signal)
    if (adapter.version !== version) {
      throw new PipelineError(
        'worker',
        `asked for the adapter of version ${version}, the worker saved version ${adapter.version}`,
      )
    }
    const policy = { version, name: `policy-${this.#options.runId}-${part}${padded(version)}` }
    const report = await this.deliver(policy, adapter, signal, measuring)
    this.#delivered.push({ policy, directory })
    await this.#letGo(signal)
    return { policy, directory, ...report }
  }

  /** Loads a stored adapter of the worker's current version under a name that was never used, and verifies it. */
  async deliver(
    policy: Policy,
    adapter: AdapterRef,
    signal?: AbortSignal,
    measuring?: Promise<Logprobs>,
  ): Promise<CanaryReport> {
    this.#canary.expect(policy.name, measuring ?? this.#measure(signal))
    await this.#options.sampler.load(policy.name, adapter, signal)
    // The two checks do not depend on each other; that of the list says more where both fail.
    const verifying = this.#canary.verify(policy.name, signal)
    const [listed, verified] = await Promise.allSettled([this.#requireListed(policy.name, signal), verifying])
    if (listed.status === 'rejected') throw listed.reason
    if (verified.status === 'rejected') throw verified.reason
    return verified.value
  }

  /** A server that was started anew may have found other weights under the old path, or have another base: the same proof as at first. */
  async #proveAgain(name: string, server: Examinee, address: string, signal: AbortSignal | undefined): Promise<void> {
    requireOnce(name, await server.policies(signal))
    await this.#canary.verifyAgain(name, server, address, signal)
  }

  /** Keeps the newest version's directory for good: a checkpoint was made of it. */
  keepNewest(): void {
    const newest = this.#delivered.at(-1)
    if (newest !== undefined) this.#kept.add(newest.directory)
  }

  /** Begins to measure the worker's version beside the delivery; a failure counts where the result is waited for. */
  #measure(signal: AbortSignal | undefined): Promise<Logprobs> {
    const measuring = this.#canary.measure('current', signal)
    measuring.catch(() => undefined)
    return measuring
  }

  async #requireListed(name: string, signal: AbortSignal | undefined): Promise<void> {
    const lists = await askEvery(this.#options.sampler, (server) => server.policies(signal), signal)
    for (const names of lists) requireOnce(name, names)
  }

  /** Unloads versions that nobody samples from any more. A directory goes one version later, when nothing can name it. */
  async #letGo(signal: AbortSignal | undefined): Promise<void> {
    const { sampler, learner, onWarning } = this.#options
    const leaving = this.#delivered.at(-keptLoaded - 1)
    if (leaving === undefined) return
    await sampler.unload(leaving.policy.name, signal).catch((error: unknown) => {
      if (!(error instanceof PipelineError)) throw error
      onWarning(`could not unload ${leaving.policy.name}: ${error.message}`)
    })
    if (this.#delivered.length <= keptLoaded + 1) return
    const gone = this.#delivered.shift()
    if (gone !== undefined) this.#canary.forget(gone.policy.name)
    if (gone !== undefined && !this.#kept.has(gone.directory)) await learner.discardAdapter(gone.directory)
  }
}

const requireOnce = (name: string, listed: readonly string[]): void => {
  const count = listed.filter((one) => one === name).length
  if (count === 1) return
  const text = count === 0 ? `the sampler does not list ${name}` : `the sampler lists ${name} ${count} times`
  throw new PipelineError('sampler', `${text}; it lists: ${listed.join(', ')}`, {
    remedy: 'The served name of the base model must be the configured one, and no adapter may have that name.',
  })
}

/** Asks the sampler to forget what earlier attempts of the run left loaded. */
export const forgetEarlierAttempts = async (sampler: Sampler, runId: string, signal?: AbortSignal): Promise<void> => {
  for (const name of await sampler.policies(signal)) {
    if (isOwnPolicy(runId, name)) await sampler.unload(name, signal)
  }
}
