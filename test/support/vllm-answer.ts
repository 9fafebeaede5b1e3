import type { Answer } from './fake-server.ts'

export interface VllmTraits {
  /** Where the base model came from. */
  readonly root?: string
  readonly version?: string
  /** Status of an attempt to load an adapter without a name. */
  readonly lora?: number
  readonly maxModelLen?: number
  /** The first choice of a reply to a request for one token. */
  readonly choice?: object
}

/** What a vLLM answers that is fit for a run, but for what is asked to be otherwise. */
export const vllmAnswer = (route: string, traits: VllmTraits = {}): Answer => {
  const { root = '/models/tiny-base', version = '0.27.1', lora = 400, maxModelLen = 100_000, choice } = traits
  const fit = { index: 0, text: 'a', token_ids: [5], logprobs: { token_logprobs: [-1] }, finish_reason: 'length' }
  const answers: Readonly<Record<string, Answer>> = {
    'GET /health': { text: '' },
    'GET /version': { json: { version } },
    'GET /v1/models': { json: { data: [{ id: 'base', root, parent: null, max_model_len: maxModelLen }] } },
    'POST /v1/load_lora_adapter': {
      status: lora,
      json:
        lora === 404
          ? { detail: 'Not Found' }
          : { error: { message: "Both 'lora_name' and 'lora_path' must be provided." } },
    },
    'POST /v1/completions': { json: { choices: [choice ?? fit] } },
  }
  return answers[route] ?? { status: 404, json: { detail: 'Not Found' } }
}
