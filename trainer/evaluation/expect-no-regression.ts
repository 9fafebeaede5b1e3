import type { RegressionVerdict } from '../../data/records/regression.ts'
import { loadEvaluation, sideOf } from './load.ts'
import { regressionVerdict, type RegressionOptions } from './regression.ts'
import { renderVerdict } from './regression-text.ts'

export interface NoRegressionOptions extends RegressionOptions {
  /** Directory of an evaluation; its trained model is compared with. Left out: the base model of `trained`. */
  readonly base?: string
  /** Directory of the evaluation whose trained model must not have fallen behind. */
  readonly trained: string
}

/**
 * For a project's own tests: fails when the gate would, with its text as message. Works in vitest and in every other runner,
 * since it only throws. Gives the verdict, for further expectations.
 *
 *     await expectNoRewardRegression({ base: 'runs/released/eval/final', trained: 'runs/new/eval/final' })
 */
export const expectNoRewardRegression = async ({
  base,
  trained,
  ...options
}: NoRegressionOptions): Promise<RegressionVerdict> => {
  const after = await loadEvaluation(trained)
  const before = base === undefined ? sideOf(after, 'base') : sideOf(await loadEvaluation(base), 'trained')
  const verdict = regressionVerdict(before, sideOf(after, 'trained'), options)
  if (verdict.verdict === 'regression') throw new Error(`reward regression\n${renderVerdict(verdict)}`)
  return verdict
}
