import { join } from 'node:path'
import { writeJsonAtomic } from '../../data/store/atomic.ts'
import { openLineFile, type LineFile } from './line-file.ts'
import type { RescoredCompletion } from './rescore-stream.ts'

/** Where a scoring writes: scores.jsonl with every breakdown, changes.jsonl where it compares, summary.json last. */
export interface ReportFiles {
  readonly add: (completion: RescoredCompletion) => Promise<void>
  readonly finish: (summary: unknown) => Promise<void>
  readonly discard: () => Promise<void>
}

/** For a scoring whose results are only printed. */
export const noFiles: ReportFiles = {
  add: async () => undefined,
  finish: async () => undefined,
  discard: async () => undefined,
}

/** Files that appear whole or not at all, in a directory that is made if it is missing. */
export const openReportFiles = async (directory: string, compares: boolean): Promise<ReportFiles> => {
  const scores = await openLineFile(join(directory, 'scores.jsonl'))
  const changes: LineFile | null = compares ? await openLineFile(join(directory, 'changes.jsonl')) : null
  return {
    add: async ({ given, prompt, score, verdict, change }) => {
      const place = { where: given.where, promptId: given.promptId, node: prompt.node, index: given.index }
      await scores.write({ ...place, score, verdict })
      if (change !== null) await changes?.write({ ...place, ...change })
    },
    finish: async (summary) => {
      await scores.close()
      await changes?.close()
      await writeJsonAtomic(join(directory, 'summary.json'), summary)
    },
    discard: async () => {
      await scores.discard()
      await changes?.discard()
    },
  }
}
