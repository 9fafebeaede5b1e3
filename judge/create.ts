import type { JudgeConfig } from './config.ts'
import type { Judge, OpenJudge } from './judge.ts'
import { openLlmJudge } from './llm/open.ts'
import { referenceJudge } from './reference.ts'

export interface JudgeSurroundings {
  /** Relative paths of the config are looked up here. */
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Gives the opening up. */
  readonly signal?: AbortSignal | undefined
}

/** Nothing to close. */
const open = (judge: Judge): OpenJudge => ({ ...judge, close: async () => undefined })

/**
 * Makes the configured judge; null for `none`. A judge with an endpoint is reached and proved before this resolves;
 * rejects with a JudgeError when that fails. Close it when nothing is asked any more.
 */
export const createJudge = async (
  config: JudgeConfig,
  surroundings: JudgeSurroundings = { cwd: process.cwd(), env: process.env },
): Promise<OpenJudge | null> => {
  if (config.kind === 'none') return null
  return config.kind === 'llm' ? await openLlmJudge(config, surroundings) : open(referenceJudge)
}
