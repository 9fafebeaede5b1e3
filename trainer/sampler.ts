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

/** Proves an adapter that was loaded again: rejects when it is not what it was. */
export type ReloadCheck = (policy: string, signal: AbortSignal | undefined) => Promise<void>

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
   * Names who proves an adapter that had to be loaded again because its server was restarted: nothing that was sampled from
   * it is given out before the check resolves. Sampling fails where it rejects. A sampler that never loads by itself has no
   * use for it.
   */
  onReload?(check: ReloadCheck): void
}
