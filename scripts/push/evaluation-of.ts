import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadEvaluation, readSummary, type RecordedEvaluation } from '../../trainer/evaluation/load.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'

/** That at the end of training says most, then that of the held-out prompts. */
const preferred = ['final', 'heldout']

const rank = (name: string): number => {
  const place = preferred.indexOf(name)
  return place === -1 ? preferred.length : place
}

/** The evaluation of exactly these weights; null where there is none on record. */
export const evaluationOf = async (run: RunDirectory, sha256: string): Promise<RecordedEvaluation | null> => {
  const folder = run.at('eval')
  if (!existsSync(folder)) return null
  const names = (await readdir(folder)).filter((name) => existsSync(join(folder, name, 'summary.json')))
  for (const name of names.toSorted((a, b) => rank(a) - rank(b) || b.localeCompare(a))) {
    const directory = join(folder, name)
    if ((await readSummary(directory)).adapter?.sha256 === sha256) return await loadEvaluation(directory)
  }
  return null
}
