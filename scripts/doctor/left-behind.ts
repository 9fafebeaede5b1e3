import { join, resolve } from 'node:path'
import type { Config } from '../../configs/schema.ts'
import { foldersOf } from '../../data/store/folders.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { endOrphans } from '../../trainer/supervision/child-records.ts'
import { engineDirectory } from '../judge-engine.ts'

/**
 * Ends the processes that killed runs of this directory have left behind, the judge's server included; one line for each. A
 * process counts only when its id and its start are those on record, and whoever started it is gone.
 */
export const endLeftBehind = async ({ run }: Pick<Config, 'run'>, cwd: string): Promise<string[]> => {
  const runsDir = resolve(cwd, run.dir)
  const ended = [await endOrphans(join(resolve(cwd, engineDirectory), 'processes'))]
  for (const id of await foldersOf(runsDir)) {
    const lines = await endOrphans(new RunDirectory(runsDir, id).processes)
    ended.push(lines.map((line) => `${id}: ${line}`))
  }
  return ended.flat()
}
