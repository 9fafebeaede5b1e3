import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import { SessionRequest, UpdateBatch, type UpdateResult } from '../../data/records/update.ts'
import { complete, decode, encode, firstWeights, logprobs, sha256, updated, type Weights } from './stub-model.ts'
import { Completions, Items, Lora, Path, Prompts, Refusal, refusalOf, State } from './stub-protocol.ts'
import { forget, writeWhole } from './stub-storage.ts'

interface Done {
  readonly hash: string
  readonly result: UpdateResult
}

interface Session {
  readonly request: SessionRequest
  version: number
  weights: Weights
  readonly results: Map<number, Done>
}

interface Loaded {
  readonly root: string
  readonly weights: Weights
}

const keptResults = 64
const keptAnswers = 256

/** What one worker was asked and did. */
export interface Ledger {
  readonly requests: number
  /** Updates that moved the weights, repetitions not counted. */
  readonly applied: number
  /** Requests that were answered from memory. */
  readonly repeated: number
  /** What no correct client does. */
  readonly violations: readonly string[]
  readonly version: number
  readonly weights: Weights
  readonly loaded: number
}

/**
 * Follows the protocol of the worker and of its sampler without a model, to the letter, and keeps account: every update is
 * applied once, by its step and payload, and whatever a correct client would not do is written down.
 */
export class StubWorker {
  #session: Session | null = null
  readonly #loaded = new Map<string, Loaded>()
  readonly #answers = new Map<string, { call: string; answer: unknown }>()
  /** The name under which each path was first asked for. */
  readonly #paths = new Map<string, string | undefined>()
  readonly #violations: string[] = []
  #requests = 0
  #applied = 0
  #repeated = 0

  get ledger(): Ledger {
    return {
      ...{ requests: this.#requests, applied: this.#applied, repeated: this.#repeated, violations: this.#violations },
      version: this.#session?.version ?? 0,
      weights: this.#session?.weights ?? firstWeights,
      loaded: this.#loaded.size,
    }
  }

  /** Answers one request: status and body. */
  answer(route: string, text: string, key: string | undefined): { status: number; body: unknown } {
    this.#requests += 1
    try {
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      const act = this.#routes[route]
      if (act === undefined) throw new Refusal(404, 'NotFound', 'Not Found')
      return { status: 200, body: this.#named.has(route) ? this.#once(route, text, key, () => act(body)) : act(body) }
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal.status === 422) this.#violations.push(`${route}: ${refusal.message.slice(0, 300)}`)
      const { status, type, message } = refusal
      return { status, body: { error: { message, type, code: status } } }
    }
  }

  readonly #named = new Set(['POST /session', 'POST /adapters', 'POST /state/save', 'POST /state/load'])

  readonly #routes: Readonly<Record<string, (body: unknown) => unknown>> = {
    'GET /health': () => ({}),
    'GET /info': () => this.#info(),
    'GET /ledger': () => this.ledger,
    'POST /session': (body) => this.#open(SessionRequest.parse(body)),
    'POST /tokenize': (body) => this.#tokenize(Prompts.parse(body)),
    'POST /update': (body) => this.#update(UpdateBatch.parse(body)),
    'POST /logprobs': (body) => this.#logprobs(Items.parse(body)),
    'POST /adapters': (body) => this.#saveAdapter(Path.parse(body).path),
    'POST /state/save': (body) => this.#saveState(Path.parse(body).path),
    'POST /state/load': (body) => this.#loadState(Path.parse(body).path),
    'GET /v1/models': () => this.#models(),
    'POST /v1/completions': (body) => this.#complete(Completions.parse(body)),
    'POST /v1/load_lora_adapter': (body) => this.#load(Lora.parse(body)),
    'POST /v1/unload_lora_adapter': (body) => this.#unload(Lora.parse(body)),
  }

  #once(route: string, text: string, key: string | undefined, act: () => unknown): unknown {
    const call = `${route} ${text}`
    if (key === undefined) {
      this.#violations.push(`${route} without a name`)
      return act()
    }
    // A path is asked for once: whoever asks again under another name takes a lost reply for a call that was never made.
    const before = this.#paths.get(call)
    if (/adapters|save/.test(route) && before !== undefined && before !== key)
      this.#violations.push(`${call}: asked again under another name`)
    this.#paths.set(call, key)
    forget(this.#paths, keptAnswers)
    const known = this.#answers.get(key)
    if (known !== undefined) {
      if (known.call !== call) throw new Refusal(422, 'Conflict', `${key} was another call's`)
      this.#repeated += 1
      return known.answer
    }
    const answer = act()
    this.#answers.set(key, { call, answer })
    forget(this.#answers, keptAnswers)
    return answer
  }

  #require(): Session {
    if (this.#session === null) throw new Refusal(409, 'NoSession', 'no session is open')
    return this.#session
  }

  #info(): unknown {
    const session = this.#session
    return {
      ...{ model: 'stub', modelHash: sha256('stub'), architecture: 'Stub', parameters: 1, dtype: 'float32' },
      ...{ device: 'cpu', threads: 1, maxContext: 100_000, versions: { stub: '1' } },
      session: session === null ? null : { runId: session.request.runId, version: session.version },
    }
  }

  #open(request: SessionRequest): unknown {
    const { runId } = request
    const open = this.#session
    if (open !== null && open.request.runId !== runId) throw new Refusal(409, 'Conflict', 'another run')
    if (open === null || open.version > 0)
      this.#session = { request, version: 0, weights: firstWeights, results: new Map() }
    return { runId, version: 0, loraParameters: 1 }
  }

  #tokenize({ prompts }: z.infer<typeof Prompts>): unknown {
    return {
      prompts: prompts.map(({ id, messages }) => ({
        id,
        tokenIds: encode(messages.map(({ content }) => content).join('\n')),
      })),
    }
  }

  #update(batch: UpdateBatch): UpdateResult {
    const session = this.#require()
    const { runId, step, fromVersion } = batch
    const hash = sha256(JSON.stringify(batch))
    if (runId !== session.request.runId) throw new Refusal(409, 'StaleVersion', 'another run')
    const done = session.results.get(step)
    if (done !== undefined) {
      if (done.hash !== hash) throw this.#broken(409, `step ${step} with another payload`)
      this.#repeated += 1
      return done.result
    }
    if (fromVersion !== session.version)
      throw this.#broken(409, `step ${step} from ${fromVersion}, not ${session.version}`)
    const result = this.#result(batch, hash, this.#mismatch(batch, session.weights))
    session.weights = updated(session.weights, hash)
    session.version += 1
    session.results.set(step, { hash, result })
    forget(session.results, keptResults)
    this.#applied += 1
    return result
  }

  #broken(status: number, message: string): Refusal {
    this.#violations.push(message)
    return new Refusal(status, 'StaleVersion', message)
  }

  /** Largest difference between the log-probs that came with a batch and those of the weights it starts from. */
  #mismatch({ groups }: UpdateBatch, weights: Weights): number {
    const differences = groups.flatMap(({ promptTokenIds, completions }) =>
      completions.flatMap(({ tokenIds, samplerLogprobs }) => {
        const own = logprobs(weights, [...promptTokenIds.slice(-1), ...tokenIds])
        return samplerLogprobs.map((value, i) => Math.abs(value - (own[i] ?? Number.NaN)))
      }),
    )
    return Math.max(0, ...differences)
  }

  #result(batch: UpdateBatch, payloadHash: string, mismatch: number): UpdateResult {
    const { runId, step, fromVersion, groups } = batch
    if (mismatch !== 0)
      this.#violations.push(`step ${step} holds completions that were not sampled from ${fromVersion}`)
    const completions = groups.flatMap((group) => group.completions)
    return {
      ...{ runId, step, fromVersion, version: fromVersion + 1, payloadHash },
      ...{ loss: 0, kl: fromVersion === 0 ? 0 : 0.01, entropy: 1, gradNorm: 1, learningRate: 1e-3 },
      clipRatio: { low: 0, high: 0, region: 0 },
      mismatch: { meanAbs: mismatch, maxAbs: mismatch, outsideShare: 0, k3: 0 },
      tokens: {
        prompt: groups.reduce((sum, { promptTokenIds }) => sum + promptTokenIds.length, 0),
        completion: completions.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
      },
      ...{ seconds: 0.001, peakRssBytes: 1 },
    }
  }

  #logprobs({ version, items }: z.infer<typeof Items>): unknown {
    const weights = version === 'base' ? firstWeights : this.#require().weights
    return {
      version: version === 'base' ? 0 : this.#require().version,
      items: items.map(({ promptTokenIds, tokenIds }) => ({
        logprobs: logprobs(weights, [...promptTokenIds, ...tokenIds]).slice(promptTokenIds.length - 1),
      })),
    }
  }

  #saveAdapter(path: string): unknown {
    const { version, weights } = this.#require()
    writeWhole(path, { 'adapter_config.json': '{}\n', 'adapter_model.safetensors': weights })
    return { version, path, sha256: sha256(weights), bytes: weights.length }
  }

  #saveState(path: string): unknown {
    const { request, version, weights, results } = this.#require()
    const saved = {
      request,
      version,
      weights,
      results: [...results].map(([step, { hash, result }]) => [step, hash, result]),
    }
    writeWhole(path, { 'session.json': JSON.stringify(saved) })
    return { version, path }
  }

  #loadState(path: string): unknown {
    const { request, version, weights, results } = State.parse(
      JSON.parse(readFileSync(join(path, 'session.json'), 'utf8')),
    )
    const restored = results.map(([step, hash, result]) => [step, { hash, result: result as UpdateResult }] as const)
    this.#session = { request, version, weights, results: new Map(restored) }
    return { runId: request.runId, version }
  }

  #models(): unknown {
    const cards = [...this.#loaded].map(([id, { root }]) => ({ id, root }))
    return { data: [{ id: 'base', root: 'stub', max_model_len: 100_000 }, ...cards] }
  }

  #weightsOf(model: string): Weights {
    const weights = model === 'base' ? firstWeights : this.#loaded.get(model)?.weights
    if (weights === undefined) throw new Refusal(404, 'NotFoundError', `The model \`${model}\` does not exist.`)
    return weights
  }

  #complete(request: z.infer<typeof Completions>): unknown {
    const { model, prompt, n, seed = 0, prompt_logprobs, max_tokens: most } = request
    const weights = this.#weightsOf(model)
    const prompts = (Array.isArray(prompt[0]) ? prompt : [prompt]) as number[][]
    if (prompt_logprobs !== undefined) {
      const choices = prompts.map((tokens, index) => ({
        index,
        prompt_logprobs: [
          null,
          ...logprobs(weights, tokens).map((logprob, i) => ({ [String(tokens[i + 1])]: { logprob } })),
        ],
      }))
      return { choices }
    }
    const [tokens = []] = prompts
    const choices = Array.from({ length: n }, (_, index) => {
      const token_ids = complete(weights, tokens, seed, index).slice(0, most)
      const token_logprobs = logprobs(weights, [...tokens.slice(-1), ...token_ids])
      return { index, text: decode(token_ids), token_ids, logprobs: { token_logprobs }, finish_reason: 'stop' }
    })
    return { choices }
  }

  #load({ lora_name: name, lora_path: root = '' }: z.infer<typeof Lora>): unknown {
    if (name === '') throw new Refusal(400, 'InvalidUserInput', 'no name')
    if (this.#loaded.has(name))
      throw new Refusal(400, 'BadRequestError', `The lora adapter '${name}' has already been loaded.`)
    this.#loaded.set(name, { root, weights: readFileSync(join(root, 'adapter_model.safetensors'), 'utf8') })
    return 'Success'
  }

  #unload({ lora_name: name }: z.infer<typeof Lora>): unknown {
    if (!this.#loaded.delete(name))
      throw new Refusal(404, 'NotFoundError', `The lora adapter '${name}' cannot be found.`)
    return 'Success'
  }
}
