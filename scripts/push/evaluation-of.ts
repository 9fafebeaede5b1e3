import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { foldersOf } from '../../data/store/folders.ts'
import { loadEvaluation, mainEvaluations, readSummary, type RecordedEvaluation } from '../../trainer/evaluation/load.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'

const rank = (name: string): number => {
  const place = mainEvaluations.indexOf(name)
  return place === -1 ? mainEvaluations.length : place
}

/** The evaluation of exactly these weights; null where there is none on record. */
export const evaluationOf = async (run: RunDirectory, sha256: string): Promise<RecordedEvaluation | null> => {
  const folder = run.at('eval')
  const names = (await foldersOf(folder)).filter((name) => existsSync(join(folder, name, 'summary.json')))
  for (const name of names.toSorted((a, b) => rank(a) - rank(b) || b.localeCompare(a))) {
    const directory = join(folder, name)
    if ((await readSummary(directory)).adapter?.sha256 === sha256) return await loadEvaluation(directory)
  }
  return null
}
