import { describe } from 'vitest'
import { adapterContract } from './adapters.contract.ts'
import { completionContract } from './completions.contract.ts'
import { refusalContract } from './refusals.contract.ts'
import type { SamplerTarget } from './target.ts'

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
