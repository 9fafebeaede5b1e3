import { setTimeout as wait } from 'node:timers/promises'
import { PipelineError } from '../../data/errors.ts'
import type { VllmSampler } from '../vllm-sampler.ts'
import type { ServerSource } from './endpoint.ts'

export interface AttachedOptions {
  readonly url: string
  readonly client: VllmSampler
  /** How long a run waits for it when there is nobody else. */
  readonly patienceMs?: number
  /** Between two looks. */
  readonly pollMs?: number
}

/** A large model takes some ten minutes to start; whoever restarts it by hand takes some more. */
const patienceMs = 30 * 60_000

const answers = async (client: VllmSampler, signal: AbortSignal): Promise<boolean> => {
  try {
    await client.health(signal)
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof PipelineError) return false
    throw error
  }
}

/** A server that somebody else runs: when it is lost, all that can be done is to look whether it answers again. */
export const attached = ({ url, client, ...options }: AttachedOptions): ServerSource => ({
  name: `the sampler at ${url}`,
  client,
  patienceMs: options.patienceMs ?? patienceMs,
  mostLosses: 10,
  revive: async (signal) => {
    while (!(await answers(client, signal))) await wait(options.pollMs ?? 2000, undefined, { signal })
    return client
  },
})
