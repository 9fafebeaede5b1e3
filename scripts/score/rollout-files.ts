import { join } from 'node:path'
import { PipelineError } from '../../data/errors.ts'
import { namesIn } from '../../data/store/folders.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'
import { readCompletions, type GivenCompletion } from './given-completion.ts'

/** Names of a run's rollout files, in the order of the steps. A run without any is an error. */
const rolloutFiles = async (run: RunDirectory): Promise<string[]> => {
  const files = (await namesIn(run.at('rollouts'))).filter((name) => /^step-\d+\.jsonl$/.test(name)).toSorted()
  if (files.length > 0) return files
  throw new PipelineError('rewards', `run ${run.id} has no rollouts: ${run.at('rollouts')}`, {
    remedy: 'Let it train a step, or copy its rollouts/ too.',
  })
}

/** Streams every recorded completion of a run, step by step. Places are named relative to the run. */
export async function* readRollouts(run: RunDirectory): AsyncGenerator<GivenCompletion> {
  for (const file of await rolloutFiles(run)) yield* readCompletions(run.at('rollouts', file), join('rollouts', file))
}
