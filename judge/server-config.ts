import { z } from 'zod'
import { engineSettings, memoryFraction } from '../data/engine-settings.ts'

/** A vLLM that is started for the judge, at the address in judge.baseUrl, and ended with the run. */
export const JudgeServer = z.strictObject({
  path: z.string().min(1).describe('The judge’s model: a directory, or a name on the Hugging Face hub.'),
  revision: z.string().min(1).default('main').describe('Branch, tag or commit of a hub model.'),
  memoryFraction: memoryFraction.default(0.3).describe('Share of the GPU’s memory.'),
  maxModelLen: z.int().min(256).default(8192).describe('Longest question with its answer, in tokens.'),
  quantization: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('How the weights are stored, as vLLM names it; null: vLLM reads it from the model.'),
  ...engineSettings,
  maxSeqs: engineSettings.maxSeqs.default(16),
})
export type JudgeServer = z.infer<typeof JudgeServer>

/** An engine can be started only at an address of this machine with a port of its own. */
export const canBeStartedAt = (baseUrl: string): boolean => {
  const { protocol, hostname, port, pathname } = new URL(baseUrl)
  return protocol === 'http:' && hostname === '127.0.0.1' && port !== '' && pathname.replace(/\/$/, '') === '/v1'
}
