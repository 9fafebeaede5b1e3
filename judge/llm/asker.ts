import pLimit, { type LimitFunction } from 'p-limit'
import type { Message } from '../../data/records/prompt.ts'
import { JudgeError } from '../judge.ts'
import { readVerdict } from '../verdict.ts'
import type { Breaker } from './breaker.ts'
import type { Endpoint, Reply } from './endpoint.ts'
import { CallFailure } from './failure.ts'
import type { Hold } from './hold.ts'
import type { Tally } from './tally.ts'
import { pause } from './wait.ts'

export interface AskerOptions {
  readonly endpoint: Pick<Endpoint, 'ask'>
  /** The model that has to answer, as the endpoint itself names it. */
  readonly servedModel: string
  readonly breaker: Breaker
  readonly hold: Hold
  readonly tally: Tally
  readonly concurrency: number
  /** Further tries after the first. */
  readonly retries: number
  readonly timeoutMs: number
  readonly onOutage: 'pause' | 'skip'
  /** Wait before the second try; doubles each time, with jitter. */
  readonly firstBackoffMs: number
}

export interface Question {
  /** The messages of one try, and the id that its verdict must copy. */
  readonly attempt: (number: number) => { readonly messages: readonly Message[]; readonly id: string }
}

export interface Answer {
  readonly score: number
  readonly reason: string
  readonly promptTokens: number
  readonly completionTokens: number
}

/** How one question fares. */
interface Course {
  readonly question: Question
  readonly signal: AbortSignal | undefined
  /** Requests sent so far; numbers the next one. */
  sent: number
  /** Failures that count against `retries`. */
  spent: number
  /** Times that it declared an outage all by itself. */
  alarms: number
  /** Rate limits in a row. */
  limited: number
  /** The breaker's answers when the tries that are spent began. */
  answersBefore: number
}

const longestBackoffMs = 30_000
/** After so many outages that nobody else noticed, the question is at fault and not the endpoint. */
const mostAlarms = 2

const messageOf = (failure: CallFailure, sent: number): string =>
  `no verdict after ${sent} ${sent === 1 ? 'try' : 'tries'}: ${failure.kind.replaceAll('_', ' ')}: ${failure.message}`

/**
 * Gets verdicts out of an endpoint that may be slow, busy, broken or down: bounded concurrency, bounded tries with jitter,
 * one breaker and one hold for all. A verdict is taken only if it copies the id of this very try and comes from the model
 * that was proved at the start.
 */
export class Asker {
  readonly #options: AskerOptions
  readonly #limit: LimitFunction

  constructor(options: AskerOptions) {
    this.#options = options
    this.#limit = pLimit(options.concurrency)
  }

  /** Resolves to a verdict; rejects with a JudgeError when there is none to be had, or with the signal's reason. */
  async ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    const course: Course = { question, signal, sent: 0, spent: 0, alarms: 0, limited: 0, answersBefore: 0 }
    for (;;) {
      const outcome = await this.#limit(() => this.#once(course))
      if (!(outcome instanceof CallFailure)) return outcome
      await this.#recover(course, outcome)
    }
  }

  /** Waits until the endpoint may be asked. Those who have a turn wait here; all others stay in their queue. */
  async #ready({ signal }: Course): Promise<void> {
    const { breaker, hold } = this.#options
    do {
      await breaker.ready(signal)
      await hold.ready(signal)
    } while (breaker.isOpen || hold.isOn)
  }

  /** One request. */
  async #once(course: Course): Promise<Answer | CallFailure> {
    const { breaker, tally, endpoint } = this.#options
    await this.#ready(course)
    if (course.spent === 0) course.answersBefore = breaker.answers
    tally.requests += 1
    if (course.sent > 0) tally.retries += 1
    const { messages, id } = course.question.attempt(course.sent)
    course.sent += 1
    try {
      const reply = await endpoint.ask(messages, course.signal)
      breaker.answered()
      tally.promptTokens += reply.promptTokens
      tally.completionTokens += reply.completionTokens
      return this.#understand(reply, id)
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      this.#note(error)
      return error
    }
  }

  #note(failure: CallFailure): void {
    const { breaker, tally } = this.#options
    tally.fail(failure.kind)
    if (failure.speaksForOutage) breaker.failed(failure)
    // A rate limit says nothing about either.
    else if (failure.kind === 'garbled' || failure.kind === 'refused') breaker.answered()
  }

  #understand(reply: Reply, id: string): Answer {
    const { servedModel } = this.#options
    if (reply.model !== servedModel)
      throw new CallFailure('swapped', `${reply.model} answered instead of ${servedModel}`)
    const verdict = readVerdict(reply.text)
    if (!verdict.ok) throw new CallFailure('garbled', verdict.problem)
    if (verdict.id !== id)
      throw new CallFailure('swapped', verdict.id === null ? 'its verdict has no id' : 'its verdict has another id')
    const { score, reason } = verdict
    return { score, reason, promptTokens: reply.promptTokens, completionTokens: reply.completionTokens }
  }

  /** Decides what follows a failure: returns when the question may be asked again. */
  async #recover(course: Course, failure: CallFailure): Promise<void> {
    const { breaker, retries, onOutage } = this.#options
    if (!failure.retryable) throw this.#give(course, failure)
    if (failure.kind === 'rate_limited') return this.#obey(course, failure)
    course.limited = 0
    // What an outage does to a question is not the question's failure.
    if (failure.speaksForOutage && breaker.isOpen) return
    course.spent += 1
    if (course.spent <= retries) return await pause(this.#backoff(course.spent), course.signal)
    const alone = failure.speaksForOutage && breaker.answers === course.answersBefore
    if (onOutage === 'skip' || !alone || course.alarms >= mostAlarms) throw this.#give(course, failure)
    course.alarms += 1
    course.spent = 0
    breaker.open(failure.message)
  }

  /** Keeps everybody back as long as the endpoint asks. Where the run pauses for outages this never costs a try. */
  #obey(course: Course, failure: CallFailure): void {
    const { hold, onOutage, retries, timeoutMs } = this.#options
    course.limited += 1
    const asked = failure.retryAfterMs ?? 0
    // Who is limited and may come back at once would ask without end.
    const wait = asked > 0 ? asked : this.#backoff(course.limited)
    if (onOutage === 'skip') {
      course.spent += 1
      if (course.spent > retries || wait > timeoutMs) throw this.#give(course, failure)
    }
    hold.extend(wait)
  }

  #give(course: Course, failure: CallFailure): JudgeError {
    return new JudgeError(messageOf(failure, course.sent), { retryable: failure.retryable, cause: failure })
  }

  #backoff(number: number): number {
    return Math.min(longestBackoffMs, this.#options.firstBackoffMs * 2 ** (number - 1)) * (0.5 + Math.random() / 2)
  }
}
