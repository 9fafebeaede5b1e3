import type { Completion } from '../data/records/rollout.ts'

/** A saved adapter of one policy version. `location` means something to the server that loads it; to the loop it is opaque. */
export interface AdapterRef {
  readonly version: number
  readonly location: string
  readonly sha256: string
  readonly bytes: number
}

export interface SampleRequest {
  /** Base or adapter name, exactly as listed. */
  readonly policy: string
  readonly promptTokenIds: readonly number[]
  readonly count: number
  readonly maxTokens: number
  readonly temperature: number
  /** Same request, same seed: same completions, up to the server's numerics. */
  readonly seed: number
}

/** What a server is asked to prove that it serves what was trained. */
export type Examinee = Pick<Sampler, 'policies' | 'tokenLogprobs'>

/**
 * Proves a policy on a server that was lost and came back: rejects when it is not what it was.
 * @param address tells the server from its neighbours
 */
export type ReloadCheck = (
  policy: string,
  server: Examinee,
  address: string,
  signal: AbortSignal | undefined,
) => Promise<void>

/** What a sampler tells about its servers. Paused: nobody can sample now; continued: somebody can again. */
export interface SamplerNotice {
  readonly kind: 'paused' | 'continued' | 'warning'
  readonly text: string
}

/** Whoever turns prompts into completions, by named policy version. May be another machine. */
export interface Sampler {
  /** Name of the base model: policy version 0. */
  readonly baseName: string
  /** Resolves when the server can answer. */
  health(signal?: AbortSignal): Promise<void>
  /** Names that can be sampled from now. */
  policies(signal?: AbortSignal): Promise<string[]>
  /** `count` completions of one prompt, by index. */
  sample(request: SampleRequest, signal?: AbortSignal): Promise<Completion[]>
  /** Of each sequence, the log-probs (natural, temperature 1) of all tokens but the first, each given the ones before it. */
  tokenLogprobs(policy: string, sequences: readonly (readonly number[])[], signal?: AbortSignal): Promise<number[][]>
  /** Makes an adapter available under a name that was never used before. */
  load(policy: string, adapter: AdapterRef, signal?: AbortSignal): Promise<void>
  /** Forgets an adapter. A name that is not there is no error. */
  unload(policy: string, signal?: AbortSignal): Promise<void>
  /**
   * Asks every server that requests may go to, each by itself; one that is lost meanwhile is left out, and at least one
   * answers. Absent: there is one server, the sampler itself.
   */
  onEvery?<T>(ask: (server: Examinee, address: string) => Promise<T>, signal?: AbortSignal): Promise<T[]>
  /**
   * Names who proves the policies of a server that was lost and came back: nothing that was sampled from it is given out
   * before the check resolves. A sampler whose servers never come back has no use for it.
   */
  onReload?(check: ReloadCheck): void
  /** Calls the listener at each notice; returns what ends that. */
  watch?(listener: (notice: SamplerNotice) => void): () => void
}

/** Asks every server behind a sampler. */
export const askEvery = async <T>(
  sampler: Sampler,
  ask: (server: Examinee, address: string) => Promise<T>,
  signal?: AbortSignal,
): Promise<T[]> => (sampler.onEvery === undefined ? [await ask(sampler, '')] : await sampler.onEvery<T>(ask, signal))
