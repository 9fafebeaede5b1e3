import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EvaluationStatistics } from '../../data/records/evaluation.ts'
import { analyse } from '../../trainer/evaluation/analyse.ts'
import { loadEvaluation } from '../../trainer/evaluation/load.ts'

/** Puts beside a recorded evaluation the statistics that `eval` writes with it. */
export const writeStatistics = async (evaluation: string): Promise<EvaluationStatistics> => {
  const { base, trained, summary } = await loadEvaluation(evaluation)
  const statistics = analyse(base, trained, { seed: summary.decoding.seed })
  await writeFile(join(evaluation, 'statistics.json'), JSON.stringify(statistics))
  return statistics
}
