import { z } from 'zod'
import { exchange, readError, succeeded } from '../../../trainer/http.ts'
import { fail, ok, skip, warn, type Check, type Finding } from '../check.ts'

const Cards = z.object({ data: z.array(z.object({ id: z.string(), root: z.string().nullish() })) })
const lastPart = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? ''

const start =
  'Start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve MODEL --served-model-name base --enable-lora.'

/** Compares what is served under the base's name with the config's model, as far as names tell. */
const sameModel = (text: string, name: string, path: string): Finding => {
  const cards = Cards.safeParse(JSON.parse(text)).data?.data ?? []
  const card = cards.find(({ id }) => id === name)
  if (card === undefined) {
    return fail(
      `it serves ${cards.map(({ id }) => id).join(', ') || 'nothing'}, and no ${name}`,
      'Correct sampling.server.model, or start vLLM with that --served-model-name.',
    )
  }
  const { root } = card
  if (root === null || root === undefined) return warn(`it serves ${name}, and does not say from where`, 'See its log.')
  return lastPart(root) === lastPart(path)
    ? ok(`it serves ${root} as ${name}`)
    : fail(`it serves ${root} as ${name}, and model.path is ${path}`, 'Serve the model that is trained.')
}

export const samplerCheck: Check = {
  name: 'sampler',
  beforeTraining: true,
  run: async ({ config: { sampling, model }, env, signal }) => {
    const { server } = sampling
    if (server.kind !== 'vllm') return skip('the sampler is started with the run')
    const token = server.tokenEnv === null ? undefined : env[server.tokenEnv]
    if (server.tokenEnv !== null && !token)
      return fail(`${server.tokenEnv} is not set`, 'Set it to the key of that vLLM.')
    const base = server.url.replace(/\/$/, '')
    const ask = (route: string, method: 'GET' | 'POST' = 'GET', body?: unknown) =>
      exchange({ method, url: `${base}${route}`, token, body, timeoutMs: 10_000, signal })
    try {
      const models = await ask('/v1/models')
      if (!succeeded(models)) return fail(readError(models).message, 'Give the key that this vLLM was started with.')
      // An empty name is refused by a server that has the route, and changes nothing.
      const lora = await ask('/v1/load_lora_adapter', 'POST', { lora_name: '', lora_path: '' })
      if (lora.status === 404) return fail('it does not load adapters while it runs', start)
      return sameModel(models.text, server.model, model.path)
    } catch (error) {
      signal.throwIfAborted()
      return fail(`${server.url} does not answer: ${(error as Error).message}`, start)
    }
  },
}
