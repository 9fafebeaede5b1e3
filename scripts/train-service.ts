import { createRewardApp } from '../rewards/service/app.ts'
import { serveRewards } from '../rewards/service/server.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { Judge } from '../judge/judge.ts'
import type { RewardsConfig } from '../rewards/config.ts'

/** Environment variable with the token that clients of a reward service must send. */
export const rewardTokenVariable = 'DRIFT_GRPO_REWARD_TOKEN'

export interface TrainService {
  readonly rewards: RewardsConfig
  /** The training's own: one cache and one limit for both. */
  readonly judge: Judge | null
  readonly pool: readonly Prompt[]
  readonly port: number
  readonly env: NodeJS.ProcessEnv
  readonly say: (text: string) => void
  /** Aborted: cut the requests in flight. */
  readonly abort: AbortSignal
}

/** Serves the rewards of a training on loopback while `work` goes on; ends with it, requests in flight first. */
export const withRewardService = async <T>(service: TrainService, work: () => Promise<T>): Promise<T> => {
  const { rewards, judge, pool, port, env, say, abort } = service
  const prompts = new Map(pool.map((prompt) => [prompt.id, prompt]))
  const token = env[rewardTokenVariable]
  const app = createRewardApp({
    rewards,
    judge,
    findPrompt: (id) => prompts.get(id),
    access: { token: token === undefined || token === '' ? null : token, loopbackOnly: true },
    onProblem: say,
  })
  const server = await serveRewards(app, { host: '127.0.0.1', port })
  say(`the rewards of this training: ${server.url}`)
  const cut = (): void => server.abort()
  abort.addEventListener('abort', cut, { once: true })
  try {
    return await work()
  } finally {
    abort.removeEventListener('abort', cut)
    if (abort.aborted) server.abort()
    await server.close()
  }
}
