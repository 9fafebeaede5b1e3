import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { anySignal } from '../data/any-signal.ts'
import { PipelineError } from '../data/errors.ts'
import type { Message } from '../data/records/prompt.ts'
import { UpdateResult, type SessionRequest, type UpdateBatch } from '../data/records/update.ts'
import { withRetry } from './backoff.ts'
import { exchange, isRetryableStatus, isTransient, readError, succeeded, untilKnown } from './http.ts'
import type { Learner, LearnerInfo, LogprobItem } from './learner.ts'
import type { AdapterRef } from './sampler.ts'

export interface WorkerClientOptions {
  readonly url: string
  readonly token: string | undefined
  /** Deadline of an update; other calls get the same. */
  readonly requestTimeoutMs: number
  /** Where the worker stores adapters and states: absolute paths on the worker's machine. */
  readonly adaptersDir: string
  readonly statesDir: string
  /** Aborted, with the reason, when the worker process has ended: calls in flight reject at once. */
  readonly gone?: AbortSignal | undefined
  /** Pause before the second try of a call. */
  readonly firstPauseMs?: number
}

const Info = z.object({
  model: z.string(),
  modelHash: z.string(),
  architecture: z.string(),
  parameters: z.int(),
  dtype: z.string(),
  device: z.string(),
  threads: z.int(),
  maxContext: z.int(),
  versions: z.record(z.string(), z.string()),
  session: z.object({ runId: z.string(), version: z.int() }).nullable(),
})
const Session = z.object({ runId: z.string(), version: z.int() })
const Tokenized = z.object({ prompts: z.array(z.object({ id: z.string(), tokenIds: z.array(z.int()) })) })
const Logprobs = z.object({
  version: z.union([z.int(), z.string()]),
  items: z.array(z.object({ logprobs: z.array(z.number()) })),
})
const Adapter = z.object({ version: z.int(), path: z.string(), sha256: z.string(), bytes: z.int() })
const State = z.object({ runId: z.string(), version: z.int() })
const Saved = z.object({ version: z.int(), path: z.string() })

const remedies: Readonly<Record<string, string>> = {
  OutOfMemory:
    'Lower worker.tokenBudget, sampling.promptsPerStep or the length limits, or raise worker.memoryFraction.',
  NonFiniteUpdate: 'Nothing was changed. Lower optimizer.learningRate; the step is in rollouts/ for inspection.',
  StaleVersion: 'Another client drives this worker, or it was restarted: resume the run from its last checkpoint.',
  StorageFailed: 'Make room there, or make it writable; what was stored before is intact. Then resume the run.',
  Conflict: 'Another run holds this worker, or the name is taken: start a fresh worker.',
}

interface Call<T> {
  readonly method: 'GET' | 'POST'
  readonly route: string
  readonly body: unknown
  readonly schema: z.ZodType<T>
  readonly signal: AbortSignal | undefined
}

/** Prompts sent in one /tokenize call. */
const tokenizeChunk = 128

/**
 * Routes that would do more, or refuse, the second time. Each call has a name that all its tries carry: the worker answers a
 * repeated one as it did the first time. An update is known by its step and its payload.
 */
const named = new Set(['/session', '/adapters', '/state/save', '/state/load'])

/** Tries of a call to a worker, its sampler's too: one that is restarting, or a bad line, is given a quarter of a minute. */
export const workerTries = 8

/** Learner over the HTTP routes of the Python worker. A lost reply is asked for again; nothing is done twice by that. */
export class WorkerClient implements Learner {
  readonly #options: WorkerClientOptions

  constructor(options: WorkerClientOptions) {
    this.#options = options
  }

  info(signal?: AbortSignal): Promise<LearnerInfo> {
    return this.#get('/info', Info, signal)
  }

  async open(session: SessionRequest, signal?: AbortSignal): Promise<void> {
    const opened = await this.#post('/session', session, Session, signal)
    if (opened.version !== 0) {
      throw new PipelineError('worker', `the worker is already at version ${opened.version} of run ${opened.runId}`, {
        remedy: 'Resume the run instead of starting it again, or start a fresh worker.',
      })
    }
  }

  async tokenize(
    prompts: readonly { id: string; messages: readonly Message[] }[],
    signal?: AbortSignal,
  ): Promise<number[][]> {
    const ids: number[][] = []
    for (let start = 0; start < prompts.length; start += tokenizeChunk) {
      const chunk = prompts.slice(start, start + tokenizeChunk)
      const reply = await this.#post('/tokenize', { prompts: chunk }, Tokenized, signal)
      for (const [i, { id }] of chunk.entries()) {
        const answer = reply.prompts[i]
        if (answer?.id !== id)
          throw new PipelineError(
            'worker',
            `/tokenize answered prompt ${answer?.id ?? 'nothing'} at the place of ${id}`,
          )
        ids.push(answer.tokenIds)
      }
    }
    return ids
  }

  async update(batch: UpdateBatch, signal?: AbortSignal): Promise<UpdateResult> {
    const result = await this.#post('/update', batch, UpdateResult, signal)
    if (result.runId !== batch.runId || result.step !== batch.step || result.fromVersion !== batch.fromVersion) {
      throw new PipelineError(
        'worker',
        `asked for step ${batch.step} from version ${batch.fromVersion}, the worker answered about step ${result.step} from version ${result.fromVersion}`,
      )
    }
    return result
  }

  async logprobs(
    version: 'base' | 'current',
    items: readonly LogprobItem[],
    signal?: AbortSignal,
  ): Promise<number[][]> {
    const reply = await this.#post('/logprobs', { version, items }, Logprobs, signal)
    const short =
      reply.items.length !== items.length ||
      reply.items.some((item, i) => item.logprobs.length !== items[i]?.tokenIds.length)
    if (short)
      throw new PipelineError('worker', '/logprobs answered with another number of log-probs than there are tokens')
    return reply.items.map((item) => item.logprobs)
  }

  async saveAdapter(name: string, signal?: AbortSignal): Promise<AdapterRef> {
    const path = join(this.#options.adaptersDir, name)
    const saved = await this.#post('/adapters', { path }, Adapter, signal)
    return { version: saved.version, location: saved.path, sha256: saved.sha256, bytes: saved.bytes }
  }

  async discardAdapter(name: string): Promise<void> {
    await rm(join(this.#options.adaptersDir, name), { recursive: true, force: true })
  }

  async saveState(location: string, signal?: AbortSignal): Promise<void> {
    await this.#post('/state/save', { path: join(this.#options.statesDir, location) }, Saved, signal)
  }

  loadState(location: string, signal?: AbortSignal): Promise<{ runId: string; version: number }> {
    return this.#post('/state/load', { path: join(this.#options.statesDir, location) }, State, signal)
  }

  #get<T>(route: string, schema: z.ZodType<T>, signal: AbortSignal | undefined): Promise<T> {
    return this.#call({ method: 'GET', route, body: undefined, schema, signal })
  }

  #post<T>(route: string, body: unknown, schema: z.ZodType<T>, signal: AbortSignal | undefined): Promise<T> {
    return this.#call({ method: 'POST', route, body, schema, signal })
  }

  #call<T>(call: Call<T>): Promise<T> {
    const headers = named.has(call.route) ? { 'idempotency-key': randomUUID() } : {}
    const { firstPauseMs } = this.#options
    return withRetry(() => this.#once(call, headers), { tries: workerTries, firstPauseMs, signal: call.signal })
  }

  async #once<T>(
    { method, route, body, schema, signal }: Call<T>,
    headers: Readonly<Record<string, string>>,
  ): Promise<T> {
    const { url, token, requestTimeoutMs, gone } = this.#options
    const either = anySignal([gone, signal])
    try {
      const reply = await exchange({
        method,
        url: `${url.replace(/\/$/, '')}${route}`,
        body,
        token,
        headers,
        timeoutMs: requestTimeoutMs,
        signal: either.signal,
      })
      if (!succeeded(reply)) throw refusal(route, reply)
      return schema.parse(JSON.parse(reply.text))
    } catch (error) {
      if (error instanceof PipelineError) throw error
      await untilKnown(gone, error)
      if (either.signal.aborted) throw either.signal.reason
      throw unreadable(route, requestTimeoutMs, error)
    } finally {
      either.release()
    }
  }
}

const refusal = (route: string, reply: { status: number; text: string }): PipelineError => {
  const { message, type } = readError(reply)
  const remedy = type === undefined ? undefined : remedies[type]
  return new PipelineError(
    'worker',
    `${route} failed with status ${reply.status}${type === undefined ? '' : ` (${type})`}: ${message}`,
    {
      retryable: isRetryableStatus(reply.status),
      ...(remedy === undefined ? {} : { remedy }),
    },
  )
}

const unreadable = (route: string, timeoutMs: number, error: unknown): PipelineError => {
  if (error instanceof z.ZodError) {
    return new PipelineError('worker', `${route} answered in another shape than expected:\n${z.prettifyError(error)}`, {
      cause: error,
      remedy: 'Worker and trainer must be of the same version.',
    })
  }
  const late = error instanceof Error && error.name === 'TimeoutError'
  const text = late ? `no answer within ${timeoutMs / 1000} s` : (error as Error).message
  const remedy = late ? 'Raise worker.requestTimeoutSeconds, or make the steps smaller.' : 'See the log of the worker.'
  return new PipelineError('worker', `${route} failed: ${text}`, {
    remedy,
    retryable: isTransient(error),
    cause: error,
  })
}
