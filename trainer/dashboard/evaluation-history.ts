import { isDeepStrictEqual } from 'node:util'
import type { EvaluationStatistics } from '../../data/records/evaluation.ts'
import type { EvaluationSummary } from '../../data/records/run.ts'
import type { RunReader } from './run-reader.ts'
import type { EvaluationHistory } from './view.ts'

/** What has to be equal before rewards of two evaluations can be held against each other. */
const conditionsOf = ({ promptSetHash, targetSetHash, judge, rewards, decoding }: EvaluationSummary) => ({
  ...{ promptSetHash, targetSetHash, judge, decoding },
  rewards: rewards.hash,
})

interface Point {
  readonly summary: EvaluationSummary
  readonly statistics: EvaluationStatistics
}

/** One for each step: the one that is asked for, else the latest. `summaries` are in the order of their steps. */
const onePerStep = (summaries: readonly EvaluationSummary[], asked: EvaluationSummary): EvaluationSummary[] =>
  summaries.filter((one, i) => one === asked || (one.step !== asked.step && summaries[i + 1]?.step !== one.step))

const promptsOf = (points: readonly Point[]): EvaluationHistory['prompts'] => {
  const prompts = new Map<
    string,
    Omit<EvaluationHistory['prompts'][number], 'trained'> & { trained: (number | null)[] }
  >()
  for (const [i, { statistics }] of points.entries()) {
    for (const { promptId, node, base, trained } of statistics.promptDeltas) {
      const known = prompts.get(promptId) ?? { promptId, node, base, trained: points.map(() => null) }
      known.trained[i] = trained
      prompts.set(promptId, known)
    }
  }
  return [...prompts.values()]
}

/** How the prompts of an evaluation fared at the other checkpoints; null where there is no such evaluation. */
export const historyOf = async (reader: RunReader, name: string): Promise<EvaluationHistory | null> => {
  const summaries = await reader.evaluations()
  const asked = summaries.find((one) => one.name === name)
  if (asked === undefined) return null
  const alike = summaries.filter((one) => isDeepStrictEqual(conditionsOf(one), conditionsOf(asked)))
  const chosen = onePerStep(alike, asked)
  const points: Point[] = []
  for (const summary of chosen) {
    const statistics = await reader.statistics(summary)
    if (statistics !== null) points.push({ summary, statistics })
  }
  return {
    points: points.map(({ summary }) => ({ name: summary.name, step: summary.step })),
    leftOut: summaries
      .filter((one) => !points.some(({ summary }) => summary.step === one.step && alike.includes(one)))
      .map((one) => one.name),
    prompts: promptsOf(points),
  }
}
