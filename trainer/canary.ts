import { PipelineError } from '../data/errors.ts'
import type { BoundPrompt } from './bind-pool.ts'
import type { Learner } from './learner.ts'
import { askEvery, type Examinee, type Sampler } from './sampler.ts'

/** A few short token sequences whose log-probs tell one policy version from another, by sequence and token. */
export type Canaries = readonly (readonly number[])[]
export type Logprobs = readonly (readonly number[])[]

const canaryTokens = 32

/** The end of the shortest prompt: real text, past what all prompts begin with, cheap enough to score at every step. */
export const chooseCanaries = (prompts: readonly BoundPrompt[]): Canaries => {
  const [shortest] = prompts.toSorted(
    (a, b) => a.tokenIds.length - b.tokenIds.length || (a.prompt.id < b.prompt.id ? -1 : 1),
  )
  return shortest === undefined ? [] : [shortest.tokenIds.slice(-canaryTokens)]
}

/** Mean |Δ| in nats a token that two correct implementations may show, and below which two versions cannot be told apart. */
const tolerances: Readonly<Record<string, { readonly agree: number; readonly noise: number }>> = {
  float32: { agree: 1e-3, noise: 1e-4 },
  bfloat16: { agree: 0.15, noise: 0.1 },
}
const coarsest = { agree: 0.15, noise: 0.1 }

/** Mean absolute difference over all tokens of all sequences. */
export const meanDifference = (a: Logprobs, b: Logprobs): number => {
  const pairs = a.flatMap((row, i) => row.map((value, j) => Math.abs(value - (b[i]?.[j] ?? Number.NaN))))
  return pairs.reduce((sum, value) => sum + value, 0) / pairs.length
}

export interface CanaryReport {
  /** Sampler against worker at this version; of several servers the one that differs most. */
  readonly difference: number
  /** This version against the one before, by the worker. */
  readonly moved: number
}

/** Log-probs of the canaries under one version, by the worker and by each server, by its address. */
interface Seen {
  readonly trained: Logprobs
  readonly sampled: Map<string, Logprobs>
}

/** What a version must answer, and what the one before it answered. */
interface Proof {
  readonly trained: Promise<Logprobs>
  readonly before: Seen | null
}

/**
 * Proves by log-probs that the sampler serves what the worker trained. Remembers the worker's log-probs of the version
 * before, so that a sampler which still serves that one is found out as soon as an update is large enough to be seen.
 */
export class CanaryCheck {
  readonly #canaries: Canaries
  readonly #sampler: Sampler
  readonly #learner: Learner
  readonly #tolerance: { readonly agree: number; readonly noise: number }
  #previous: Seen | null = null
  /** What each policy was proved by, to prove it again. */
  readonly #proofs = new Map<string, Proof>()

  constructor(canaries: Canaries, sampler: Sampler, learner: Learner, dtype: string) {
    this.#canaries = canaries
    this.#sampler = sampler
    this.#learner = learner
    this.#tolerance = tolerances[dtype] ?? coarsest
  }

  /** What the worker says about the canaries. May be asked while the adapter is still on its way to the sampler. */
  measure(version: 'base' | 'current', signal?: AbortSignal): Promise<Logprobs> {
    const items = this.#canaries.map((ids) => ({ promptTokenIds: ids.slice(0, 1), tokenIds: ids.slice(1) }))
    return this.#learner.logprobs(version, items, signal)
  }

  /**
   * Says what `name` must answer. Before it is loaded anywhere: a server that is lost in the middle of a delivery proves it
   * when it comes back.
   */
  expect(name: string, trained: Promise<Logprobs>): void {
    trained.catch(() => undefined)
    this.#proofs.set(name, { trained, before: this.#previous })
  }

  /** Throws a PipelineError of the sampler when `name` does not behave on every server as it was measured to. */
  async verify(name: string, signal?: AbortSignal): Promise<CanaryReport> {
    const { trained } = this.#proofOf(name)
    const seen: Seen = { trained: await trained, sampled: new Map() }
    const reports = await askEvery(
      this.#sampler,
      async (server, address) => {
        const [report, sampled] = await this.#examine(name, server, address, signal)
        seen.sampled.set(address, sampled)
        return report
      },
      signal,
    )
    this.#previous = seen
    return reports.reduce((worst, report) => (report.difference > worst.difference ? report : worst))
  }

  /** Verifies a policy on a server that has come back. */
  async verifyAgain(name: string, server: Examinee, address: string, signal?: AbortSignal): Promise<void> {
    await this.#examine(name, server, address, signal)
  }

  /** Nobody will ask for this policy any more. */
  forget(name: string): void {
    this.#proofs.delete(name)
  }

  #proofOf(name: string): Proof {
    const proof = this.#proofs.get(name)
    if (proof === undefined) throw wrongPolicy(name, 'nobody has said what it must answer')
    return proof
  }

  async #examine(
    name: string,
    server: Examinee,
    address: string,
    signal: AbortSignal | undefined,
  ): Promise<[CanaryReport, Logprobs]> {
    const { trained, before } = this.#proofOf(name)
    const sampled = await server.tokenLogprobs(name, this.#canaries, signal)
    const previous = before === null ? null : { trained: before.trained, sampled: before.sampled.get(address) }
    return [this.#compare(name, await trained, previous, sampled), sampled]
  }

  #compare(name: string, trained: Logprobs, before: Before | null, sampled: Logprobs): CanaryReport {
    const { agree, noise } = this.#tolerance
    const difference = meanDifference(sampled, trained)
    const moved = before === null ? 0 : meanDifference(trained, before.trained)
    // Negated so that NaN fails.
    if (!(difference <= agree)) {
      throw wrongPolicy(
        name,
        `its log-probs differ from the worker's by ${difference.toExponential(2)} nats a token on average (allowed: ${agree})`,
      )
    }
    if (before !== null && isStale(sampled, before, { difference, moved, noise })) {
      throw wrongPolicy(
        name,
        `its log-probs are still those of the version before, although the update moved them by ${moved.toExponential(2)}`,
      )
    }
    return { difference, moved }
  }
}

/** The version before, by the worker and by one server; undefined: that server did not serve it. */
interface Before {
  readonly trained: Logprobs
  readonly sampled: Logprobs | undefined
}

/** Below this no update is expected to show in a server's log-probs, whatever its dtype. */
const visible = 1e-3

/**
 * Does the sampler still answer as the version before? Either nearer to that version's log-probs than to the new ones, by
 * more than rounding; or exactly as it answered then, although the worker moved.
 */
const isStale = (
  sampled: Logprobs,
  before: Before,
  { difference, moved, noise }: CanaryReport & { readonly noise: number },
): boolean =>
  (moved > noise && !(difference < meanDifference(sampled, before.trained))) ||
  (moved > visible && before.sampled !== undefined && meanDifference(sampled, before.sampled) === 0)

const wrongPolicy = (name: string, what: string): PipelineError =>
  new PipelineError('sampler', `the sampler does not serve ${name} as it was trained: ${what}`, {
    remedy:
      'Check that sampler and worker have the same base model and dtype, and that the sampler reads the run directory.',
  })
