import type { Prompt } from '../../data/records/prompt.ts'
import type { Judge } from '../../judge/judge.ts'
import type { RewardsConfig } from '../config.ts'
import type { RewardName } from '../registry.generated.ts'
import type { Access } from './access.ts'
import { createMetrics, type ServiceMetrics } from './metrics.ts'
import { createPromptReader, type FindPrompt, type PromptReader, type PromptReading } from './read-prompt.ts'
import { createItemScorer, type ItemScorer, type ScoredItem } from './score-items.ts'
import { defaultStopTokens, stopTokenCutter } from './stop-tokens.ts'
import { mostItems } from './wire.ts'

export interface ServiceOptions {
  readonly rewards: RewardsConfig
  /** Null: there is no judge component. Whoever made the judge also closes it. */
  readonly judge: Judge | null
  /** Prompts that requests may name by id; default: none. */
  readonly findPrompt?: FindPrompt
  /** Default: loopback only, without a token. */
  readonly access?: Access
  /** Cut from the end of the text that trainers send; default: the usual ones. */
  readonly stopTokens?: readonly string[]
  /** Largest body in bytes; default 32 MiB. */
  readonly maxBodyBytes?: number
  /** Longest wait for a verdict. Default 100 s: shorter than the first trainer that gives up at two minutes. */
  readonly timeoutMs?: number
  /** Completions that may wait for a verdict at a time, given up ones included. Default: those of two largest requests. */
  readonly maxWaiting?: number
  /** Told about every request that was refused, and about faults of the program. */
  readonly onProblem?: (text: string, cause?: unknown) => void
}

/** What every route works with. */
export interface Service {
  readonly scorer: ItemScorer
  readonly metrics: ServiceMetrics
  readonly prompts: PromptReader
  readonly cutStopTokens: (text: string) => string
  /** Factor from a component's raw value to its weighted one. */
  readonly weightOf: (name: RewardName) => number
  /** Scores one completion of what was read as its prompt, and counts it. `field` names the part that held the prompt. */
  readonly score: (reading: PromptReading, completion: string, field: string) => Promise<ScoredItem>
}

const hasPrompt = (reading: PromptReading): reading is { readonly prompt: Prompt } => 'prompt' in reading

export const createService = (options: ServiceOptions): Service => {
  const metrics = createMetrics()
  const scorer = createItemScorer(options.rewards, options.judge, {
    timeoutMs: options.timeoutMs ?? 100_000,
    maxWaiting: options.maxWaiting ?? 2 * mostItems,
  })
  return {
    scorer,
    metrics,
    prompts: createPromptReader(options.findPrompt ?? (() => undefined)),
    weightOf: (name) => options.rewards.maxima[name],
    cutStopTokens: stopTokenCutter(options.stopTokens ?? defaultStopTokens),
    score: async (reading, completion, field) => {
      const item = hasPrompt(reading)
        ? await scorer.score(reading.prompt, completion)
        : scorer.refuse(field, reading.problem)
      metrics.completion(hasPrompt(reading) ? reading.prompt.node : 'unknown', item.unscored?.component ?? null)
      return item
    },
  }
}
