import { z } from 'zod'
import { SessionRequest } from '../../data/records/update.ts'

export const Items = z.object({
  version: z.enum(['base', 'current']),
  items: z.array(z.object({ promptTokenIds: z.array(z.int()), tokenIds: z.array(z.int()) })),
})
export const Prompts = z.object({
  prompts: z.array(z.object({ id: z.string(), messages: z.array(z.object({ content: z.string() })) })),
})
export const Path = z.strictObject({ path: z.string() })
export const Completions = z.object({
  model: z.string(),
  prompt: z.union([z.array(z.int()), z.array(z.array(z.int()))]),
  n: z.int(),
  max_tokens: z.int(),
  seed: z.int().optional(),
  prompt_logprobs: z.int().optional(),
})
export const Lora = z.object({ lora_name: z.string(), lora_path: z.string().optional() })
export const State = z.object({
  request: SessionRequest,
  version: z.int(),
  weights: z.string(),
  results: z.array(z.tuple([z.int(), z.string(), z.unknown()])),
})

/** A refusal in the shape of the worker's errors. */
export class Refusal extends Error {
  readonly status: number
  readonly type: string
  constructor(status: number, type: string, message: string) {
    super(message)
    this.status = status
    this.type = type
  }
}

export const refusalOf = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal(422, 'InvalidRequest', (error as Error).message)
