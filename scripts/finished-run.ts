import { readEvaluations } from './run-list.ts'
import type { RunDirectory } from '../trainer/run-directory.ts'
import type { TrainingOutcome } from '../trainer/train.ts'

/** What a run came to that has nothing left to do; null for any other. Asked before anything is started for it. */
export const finishedOutcome = async (run: RunDirectory, steps: number): Promise<TrainingOutcome | null> => {
  const status = await run.readStatus()
  if (status === null || status.state !== 'finished' || status.step < steps) return null
  const { step, policyVersion, adapter } = status
  const evaluations = await readEvaluations(run.root)
  return {
    ...{ kind: 'finished', runId: run.id, directory: run.root, step, steps, policyVersion },
    adapter: adapter === null ? null : run.at(adapter),
    evaluation: evaluations.find(({ name }) => name === 'final') ?? null,
    resumeWith: null,
  }
}
