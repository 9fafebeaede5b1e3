import { anySignal } from '../../data/any-signal.ts'
import type { Verdict } from '../../data/records/reward.ts'
import type { VerdictCache } from '../cache/cache.ts'
import type { StoredVerdict } from '../cache/entry.ts'
import { Flights } from '../cache/flights.ts'
import { verdictKey, type JudgeIdentity } from '../cache/key.ts'
import { JudgeError, type JudgeCounts, type JudgeRequest, type OpenJudge } from '../judge.ts'
import { rubrics } from '../rubrics.ts'
import type { Asker } from './asker.ts'
import type { Breaker } from './breaker.ts'
import type { Notices } from './notices.ts'
import { questionId, renderQuestion } from './question.ts'
import type { Tally } from './tally.ts'

export interface LlmJudgeParts {
  readonly name: string
  readonly identity: JudgeIdentity
  readonly maxUnscored: number
  readonly asker: Pick<Asker, 'ask'>
  readonly breaker: Pick<Breaker, 'outages' | 'pausedMs' | 'close'>
  readonly cache: VerdictCache
  readonly tally: Tally
  readonly notices: Notices
  readonly storeFailures: () => number
}

/** The judge that asks a language model, each question once. */
export class LlmJudge implements OpenJudge {
  readonly name: string
  readonly maxUnscored: number
  readonly #parts: LlmJudgeParts
  readonly #flights = new Flights<StoredVerdict>()
  readonly #closing = new AbortController()
  readonly #hits = { memory: 0, disk: 0, joined: 0 }

  constructor(parts: LlmJudgeParts) {
    this.#parts = parts
    this.name = parts.name
    this.maxUnscored = parts.maxUnscored
  }

  readonly judge = async (request: JudgeRequest): Promise<Verdict> => {
    const started = performance.now()
    this.#closing.signal.throwIfAborted()
    const { cache, identity } = this.#parts
    const key = verdictKey(identity, request.prompt, request.completion)
    const finish = ({ score, reason }: StoredVerdict, cached: boolean): Verdict => {
      return { score, reason, model: identity.model, cached, latencyMs: performance.now() - started }
    }
    const found = cache.find(key)
    if (found !== null) {
      this.#hits[found.tier] += 1
      return finish(found.verdict, true)
    }
    const { value, joined } = await this.#flights.share(key, (gone) => this.#ask(key, request, gone), request.signal)
    if (joined) this.#hits.joined += 1
    return finish(value, joined)
  }

  readonly counts = (): JudgeCounts => {
    const { tally, breaker, storeFailures } = this.#parts
    return {
      requests: tally.requests,
      retries: tally.retries,
      failures: { ...tally.failures },
      memoryHits: this.#hits.memory,
      diskHits: this.#hits.disk,
      joined: this.#hits.joined,
      storeFailures: storeFailures(),
      promptTokens: tally.promptTokens,
      completionTokens: tally.completionTokens,
      outages: breaker.outages,
      pausedSeconds: breaker.pausedMs / 1000,
    }
  }

  get watch(): Notices['watch'] {
    return this.#parts.notices.watch
  }

  /** Gives up what is under way and closes the files. */
  readonly close = async (): Promise<void> => {
    this.#closing.abort(new JudgeError('the judge was closed'))
    this.#parts.breaker.close()
    await this.#parts.cache.close()
  }

  async #ask(key: string, { prompt, completion }: JudgeRequest, gone: AbortSignal): Promise<StoredVerdict> {
    const { asker, cache, identity } = this.#parts
    const attempt = (number: number) => {
      const id = questionId(key, number)
      return { messages: renderQuestion(prompt, completion, id), id }
    }
    const { signal, release } = anySignal([gone, this.#closing.signal])
    const answer = await asker.ask({ attempt }, signal).finally(release)
    return await cache.keep(key, {
      ...answer,
      model: identity.model,
      rubrics: rubrics().version,
      node: prompt.node,
      promptId: prompt.id,
      at: new Date().toISOString(),
    })
  }
}
