import type { Message } from '../data/records/prompt.ts'
import type { SessionRequest, UpdateBatch, UpdateResult } from '../data/records/update.ts'
import type { AdapterRef } from './sampler.ts'

/** What a worker says about itself and its model. */
export interface LearnerInfo {
  readonly model: string
  readonly modelHash: string
  readonly architecture: string
  readonly parameters: number
  readonly dtype: string
  readonly device: string
  readonly threads: number
  readonly maxContext: number
  readonly versions: Readonly<Record<string, string>>
  /** The run that the worker trains now, and its version; null before a session is opened. */
  readonly session: { readonly runId: string; readonly version: number } | null
}

export interface LogprobItem {
  readonly promptTokenIds: readonly number[]
  readonly tokenIds: readonly number[]
}

/** Whoever owns the weights, the optimizer and the tokenizer. May be another machine; what it stores is named, not handed over. */
export interface Learner {
  info(signal?: AbortSignal): Promise<LearnerInfo>
  /** Starts a run's adapter and optimizer at version 0, also where the run had gone on: it died before its first checkpoint. */
  open(session: SessionRequest, signal?: AbortSignal): Promise<void>
  /** Token ids of each prompt with the generation prompt, in the order given. */
  tokenize(prompts: readonly { id: string; messages: readonly Message[] }[], signal?: AbortSignal): Promise<number[][]>
  /** One optimizer step, exactly once: repeating a batch gives the stored result. */
  update(batch: UpdateBatch, signal?: AbortSignal): Promise<UpdateResult>
  /** Log-probs of each item's tokens after its prompt, by the base or by the current version. */
  logprobs(version: 'base' | 'current', items: readonly LogprobItem[], signal?: AbortSignal): Promise<number[][]>
  /** Stores the current adapter under a new name; a stored one is never changed. */
  saveAdapter(name: string, signal?: AbortSignal): Promise<AdapterRef>
  /** Removes a stored adapter that nothing can ask for any more. */
  discardAdapter(name: string): Promise<void>
  /** Stores everything that a restart needs: adapter, optimizer, stored results. */
  saveState(location: string, signal?: AbortSignal): Promise<void>
  /** Replaces whatever the worker holds by a stored state; gives the version it is at. */
  loadState(location: string, signal?: AbortSignal): Promise<{ runId: string; version: number }>
}
