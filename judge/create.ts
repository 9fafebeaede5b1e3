import type { JudgeConfig } from './config.ts'
import type { Judge } from './judge.ts'
import { referenceJudge } from './reference.ts'

const judges: Record<JudgeConfig['kind'], () => Judge | null> = {
  reference: () => referenceJudge,
  none: () => null,
}

/** Makes the configured judge; null for `none`. */
export const createJudge = (config: JudgeConfig): Judge | null => judges[config.kind]()
