import { describe } from 'vitest'
import type { HttpClient } from './http-client.ts'
import { adapterContract } from './adapters.contract.ts'
import { completionContract } from './completions.contract.ts'
import { refusalContract } from './refusals.contract.ts'

/** A sampler under test: a server on `base`, a model of one token a byte with a context of 1024. */
export interface SamplerTarget {
  readonly http: HttpClient
  /** Served name of the base. */
  readonly model: string
  /** What make_models.py wrote, as the server sees it. */
  readonly models: string
}

/** What every sampler that the trainer may talk to must do: the worker's embedded one and vLLM alike. */
export const samplerContract = (target: () => SamplerTarget): void => {
  describe('completions', () => {
    completionContract(target)
  })
  describe('adapters', () => {
    adapterContract(target)
  })
  describe('refusals', () => {
    refusalContract(target)
  })
}
