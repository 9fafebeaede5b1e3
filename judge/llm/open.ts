import { resolve } from 'node:path'
import { milliseconds } from '../../data/duration.ts'
import { PipelineError } from '../../data/errors.ts'
import { VerdictCache } from '../cache/cache.ts'
import { VerdictStore } from '../cache/store.ts'
import type { LlmJudgeConfig } from '../config.ts'
import { JudgeError, type OpenJudge } from '../judge.ts'
import { rubrics } from '../rubrics.ts'
import { readApiKey, type KeySurroundings } from './api-key.ts'
import { Asker } from './asker.ts'
import { Breaker } from './breaker.ts'
import { Endpoint } from './endpoint.ts'
import { CallFailure } from './failure.ts'
import { Hold } from './hold.ts'
import { LlmJudge } from './llm-judge.ts'
import { Notices } from './notices.ts'
import { Tally } from './tally.ts'

export interface OpenOptions extends KeySurroundings {
  /** Gives the opening up. */
  readonly signal?: AbortSignal | undefined
  /** Wait before a second try; tests make it short. */
  readonly firstBackoffMs?: number
}

/** A question that any chat model can be asked, and that costs one token. */
const neutral = [{ role: 'user' as const, content: 'Say OK.' }]

/** Who answers at the endpoint. */
interface Served {
  readonly model: string
  readonly details: string | null
}

const prove = async (endpoint: Endpoint, signal: AbortSignal | undefined): Promise<Served> => {
  const { model } = await endpoint.ask(neutral, signal, 1)
  return { model, details: await endpoint.describeModel(signal) }
}

/** Reaches the endpoint once, so that a wrong address, key or model name is said before anything else is started. */
const firstContact = async (
  endpoint: Endpoint,
  config: LlmJudgeConfig,
  signal: AbortSignal | undefined,
): Promise<Served> => {
  try {
    return await prove(endpoint, signal)
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error
    throw new JudgeError(`the judge at ${config.baseUrl} cannot be asked: ${error.message}`, {
      remedy: 'Start it, or correct judge.baseUrl, judge.model or the API key.',
      retryable: error.retryable,
      cause: error,
    })
  }
}

const openCache = async (
  { cache }: LlmJudgeConfig,
  cwd: string,
  onFailure: (error: Error) => void,
): Promise<VerdictCache> => {
  const store = cache.dir === null ? null : await VerdictStore.open(resolve(cwd, cache.dir))
  return new VerdictCache(cache.memoryEntries, store, onFailure)
}

/** Opens the judge of a config: proves its endpoint, then opens its cache. Rejects with a JudgeError. */
export const openLlmJudge = async (config: LlmJudgeConfig, options: OpenOptions): Promise<OpenJudge> => {
  const { baseUrl, model, maxTokens, temperature } = config
  const timeoutMs = milliseconds(config.timeoutSeconds)
  await readApiKey(config, options)
  const endpoint = new Endpoint({ baseUrl, model, maxTokens, timeoutMs, apiKey: () => readApiKey(config, options) })
  const served = await firstContact(endpoint, config, options.signal)
  const tally = new Tally()
  const notices = new Notices()
  const notify = notices.send
  const probe = async (signal: AbortSignal): Promise<void> => requireSame(served, await prove(endpoint, signal))
  const { failures, pauseSeconds } = config.breaker
  const breaker = new Breaker({
    failures,
    pauseMs: milliseconds(pauseSeconds),
    onOutage: config.onOutage,
    probe,
    notify,
  })
  const asker = new Asker({
    ...{ endpoint, breaker, tally, timeoutMs, servedModel: served.model, hold: new Hold(notify) },
    concurrency: config.concurrency,
    retries: config.retries,
    onOutage: config.onOutage,
    firstBackoffMs: options.firstBackoffMs ?? 500,
  })
  let storeFailures = 0
  const cache = await openCache(config, options.cwd, (error) => {
    storeFailures += 1
    if (storeFailures === 1)
      notify({ kind: 'warning', message: `verdicts cannot be stored, and will be asked for again: ${error.message}` })
  })
  return new LlmJudge({
    name: `${model}@${rubrics().version}`,
    identity: { model, fingerprint: JSON.stringify(served), decoding: { temperature, maxTokens } },
    maxUnscored: config.maxUnscored,
    ...{ asker, breaker, cache, tally, notices },
    storeFailures: () => storeFailures,
  })
}

/** Two judges in one run would be two rewards. Not a failure of one question: it ends the run. */
const requireSame = (before: Served, now: Served): void => {
  if (before.model === now.model && before.details === now.details) return
  throw new PipelineError(
    'judge',
    `the judge that came back is another one: ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`,
    { remedy: 'Serve the same model as before and resume.' },
  )
}
