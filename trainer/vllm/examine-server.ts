import { z } from 'zod'
import { parseJson } from '../../data/json.ts'
import { PipelineError } from '../../data/errors.ts'
import { exchange, readError, succeeded, type HttpReply } from '../http.ts'
import { isOldVersion, oldestVersion } from './features.ts'

export interface ServerNeeds {
  readonly url: string
  readonly token: string | undefined
  /** Served name of the base model. */
  readonly baseName: string
  /** Longest prompt with its completion. */
  readonly contextTokens: number
}

/** What a running server said about itself. */
export interface ServerFacts {
  /** Null: it does not say. */
  readonly version: string | null
  /** Where the base model came from, as the server was told; null: it does not say. */
  readonly root: string | null
}

const Version = z.object({ version: z.string() })
const Cards = z.object({
  data: z.array(z.object({ id: z.string(), root: z.string().nullish(), max_model_len: z.int().nullish() })),
})
const FirstReply = z.object({
  choices: z
    .array(
      z.object({
        token_ids: z.array(z.int()).length(1),
        logprobs: z.object({ token_logprobs: z.array(z.number()).length(1) }),
      }),
    )
    .length(1),
})

const runtimeLora = 'VLLM_ALLOW_RUNTIME_LORA_UPDATING=1'
const start = `Start it with ${runtimeLora} vllm serve MODEL --served-model-name base --enable-lora.`

const refuse = (text: string, remedy: string): never => {
  throw new PipelineError('sampler', text, { remedy })
}

type Ask = (route: string, body?: unknown) => Promise<HttpReply>

/** A worker that only samples: it counts its own versions, and what follows is asked of it as of a vLLM. */
const isWorker = (version: string): boolean => version.endsWith('+embedded')

const examineVersion = async (url: string, ask: Ask): Promise<string | null> => {
  const version = Version.safeParse(parseJson((await ask('/version')).text)).data?.version ?? null
  if (version !== null && !isWorker(version) && isOldVersion(version)) {
    refuse(
      `${url} is a vLLM of version ${version}; ${oldestVersion} or newer is needed`,
      'Install a newer one: older ones serve stale or wrong adapters.',
    )
  }
  return version
}

const examineModels = async ({ url, baseName, contextTokens }: ServerNeeds, ask: Ask): Promise<string | null> => {
  const reply = await ask('/v1/models')
  if (!succeeded(reply)) {
    refuse(
      `${url}: listing models failed with status ${reply.status}: ${readError(reply).message}`,
      reply.status === 401 ? 'Give its key through the variable named in sampling.server.tokenEnv.' : start,
    )
  }
  const cards = Cards.safeParse(parseJson(reply.text)).data?.data ?? []
  const card = cards.find(({ id }) => id === baseName)
  if (card === undefined) {
    return refuse(
      `${url} serves ${cards.map(({ id }) => id).join(', ') || 'nothing'}, and no ${baseName}`,
      'Correct sampling.server.model, or start vLLM with that --served-model-name.',
    )
  }
  const length = card.max_model_len ?? contextTokens
  if (length < contextTokens) {
    refuse(
      `${url} takes ${length} tokens; prompts and completions may have ${contextTokens}`,
      'Start vLLM with a larger --max-model-len, or lower model.maxPromptTokens or model.maxCompletionTokens.',
    )
  }
  return card.root ?? null
}

/** An empty name is refused by a server that has the route, and changes nothing. */
const examineLora = async (url: string, ask: Ask): Promise<void> => {
  const { status } = await ask('/v1/load_lora_adapter', { lora_name: '', lora_path: '' })
  if (status === 404 || status === 405) refuse(`${url} does not load adapters while it runs`, start)
}

/** One token, as every rollout will be asked for. */
const examineReply = async ({ url, baseName }: ServerNeeds, ask: Ask): Promise<void> => {
  const sampling = { n: 1, max_tokens: 1, temperature: 1, seed: 0, logprobs: 0, return_token_ids: true }
  const reply = await ask('/v1/completions', { model: baseName, prompt: [0], ...sampling })
  if (!succeeded(reply)) {
    refuse(`${url}: sampling one token failed with status ${reply.status}: ${readError(reply).message}`, start)
  }
  const choice = FirstReply.safeParse(parseJson(reply.text)).data?.choices[0]
  if (choice === undefined) {
    return refuse(
      `${url} does not return token ids and log-probs of what it sampled`,
      `Use a vLLM of version ${oldestVersion} or newer (return_token_ids); nothing between it and the run may take fields away.`,
    )
  }
  const [logprob = 0] = choice.logprobs.token_logprobs
  if (logprob > 0) {
    refuse(
      `${url} returns ${logprob} as the log-prob of a token: these are logits`,
      'Start vLLM with --logprobs-mode processed_logprobs.',
    )
  }
}

/**
 * Asks a running server for everything that a run needs of it: version, base model and its length, adapters at run time,
 * token ids and log-probs of what was sampled. Throws a PipelineError that names the flag or the variable that is missing.
 */
export const examineServer = async (needs: ServerNeeds, signal?: AbortSignal): Promise<ServerFacts> => {
  const base = needs.url.replace(/\/$/, '')
  const ask: Ask = async (route, body) => {
    const method = body === undefined ? 'GET' : 'POST'
    try {
      return await exchange({ method, url: `${base}${route}`, token: needs.token, body, timeoutMs: 30_000, signal })
    } catch (error) {
      signal?.throwIfAborted()
      return refuse(`${needs.url} does not answer: ${(error as Error).message}`, start)
    }
  }
  const version = await examineVersion(needs.url, ask)
  const root = await examineModels(needs, ask)
  await examineLora(needs.url, ask)
  await examineReply(needs, ask)
  return { version, root }
}
