import { setImmediate } from 'node:timers/promises'
import type { Prompt } from '../../data/records/prompt.ts'
import type { ComponentScore, Score } from '../../data/records/reward.ts'
import type { Judge } from '../../judge/judge.ts'
import { createComposite } from '../composite.ts'
import type { RewardsConfig } from '../config.ts'
import { gatherEvidence, type Profile } from '../evidence.ts'
import type { RewardName } from '../registry.generated.ts'
import { createScorer } from '../scorer.ts'
import { ServiceError } from './errors.ts'
import type { ScoreResult } from './wire.ts'

/** What is known of one completion: a result without the id of its item. */
export type ScoredItem = Omit<ScoreResult, 'id'>

/** Scores completions as the service answers them: every component always has an entry. */
export interface ItemScorer {
  readonly profile: Profile
  readonly maximum: number
  readonly names: readonly RewardName[]
  readonly judge: string | null
  readonly score: (prompt: Prompt, completion: string) => Promise<ScoredItem>
  /** The result of an item that cannot be read. */
  readonly refuse: (component: string, reason: string) => ScoredItem
}

/** The answer to work that takes too long. The work goes on: its verdict is in the judge's cache when somebody asks again. */
const withDeadline = async (work: Promise<Score>, milliseconds: number): Promise<Score> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Score>((resolve) => {
    timer = setTimeout(
      () => resolve({ kind: 'unscored', component: 'judge', reason: `no verdict within ${milliseconds / 1000} s` }),
      milliseconds,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

interface Waiting {
  /** How long one completion waits for its verdict. */
  readonly timeoutMs: number
  /** How many do so at a time. */
  readonly maxWaiting: number
}

/** Binds rewards and judge. */
export const createItemScorer = (
  config: RewardsConfig,
  judge: Judge | null,
  { timeoutMs, maxWaiting }: Waiting,
): ItemScorer => {
  // Also those that nobody waits for any more: during an outage of the judge they would pile up without end.
  let waiting = 0
  const begin = async (prompt: Prompt, completion: string): Promise<Score> => {
    if (waiting >= maxWaiting) {
      throw new ServiceError('busy', `${waiting} completions wait for the judge already`, {
        remedy: 'Try again later: the judge is down, or slower than what is sent to it.',
      })
    }
    waiting += 1
    try {
      return await scorer.score(prompt, completion)
    } finally {
      waiting -= 1
    }
  }
  const scorer = createScorer(config, judge)
  const structural = createComposite(config, false)
  const blank = Object.fromEntries(scorer.names.map((name) => [name, null]))

  /** A judge that fails takes away the total, not what the other components say. */
  const withoutTotal = (prompt: Prompt, completion: string): Record<string, ComponentScore | null> => {
    const rest = structural.score(gatherEvidence(config.profile, prompt.facts, completion))
    return rest.kind === 'scored' ? { ...blank, ...rest.components } : blank
  }

  return {
    profile: config.profile,
    maximum: scorer.maximum,
    names: scorer.names,
    judge: judge?.name ?? null,
    score: async (prompt, completion) => {
      const work = begin(prompt, completion)
      const score = judge === null ? await work : await withDeadline(work, timeoutMs)
      if (score.kind === 'scored') return { total: score.total, components: score.components, unscored: null }
      const { component, reason } = score
      return { total: null, components: withoutTotal(prompt, completion), unscored: { component, reason } }
    },
    refuse: (component, reason) => ({ total: null, components: blank, unscored: { component, reason } }),
  }
}

const turn = 64

/** Starts the work on all items side by side and keeps their order. Lets other requests have a turn in between. */
export const inTurns = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const pending: Promise<R>[] = []
  for (const item of items) {
    const one = work(item)
    // Somebody has to listen before the loop is through; the error itself goes up below.
    one.catch(() => undefined)
    pending.push(one)
    if (pending.length % turn === 0) await setImmediate()
  }
  return await Promise.all(pending)
}
