import { onTestFinished } from 'vitest'
import { Recorder } from '../../trainer/recorder.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'

/** A recorder whose writes end with the test: one that came later would make a directory anew that was removed. */
export const settledRecorder = (run: RunDirectory): Recorder => {
  const recorder = new Recorder(run, 1, 4)
  onTestFinished(async () => await recorder.settle().catch(() => undefined))
  return recorder
}
