import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeStatistics } from './written-statistics.ts'

const change = async (evaluation: string, changes: object): Promise<void> => {
  const path = join(evaluation, 'summary.json')
  await writeFile(path, JSON.stringify({ ...(JSON.parse(await readFile(path, 'utf8')) as object), ...changes }))
}

/** Makes `step-30` and `final` of a run two checkpoints of one training: the model is as at the start at the first, better at the second. */
export const makeCheckpoints = async (run: string): Promise<void> => {
  const [first, last] = [join(run, 'eval', 'step-30'), join(run, 'eval', 'final')]
  await cp(last, first, { recursive: true, force: true })
  await cp(join(first, 'base.jsonl'), join(first, 'trained.jsonl'))
  await change(first, { step: 30 })
  await change(last, { step: 60 })
  for (const evaluation of [first, last]) await writeStatistics(evaluation)
}
