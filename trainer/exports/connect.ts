import type { RunDirectory } from '../run-directory.ts'
import type { ExportsSection } from './config.ts'
import type { RunLabel } from './label.ts'
import { connectMlflow } from './mlflow.ts'
import type { Sink } from './sink.ts'
import { openEventFile } from './tensorboard/event-files.ts'
import { connectTrackio } from './trackio.ts'

/** Opens all sinks for a run that has a directory now. */
export type OpenSinks = (run: RunDirectory, label: RunLabel) => Promise<Sink[]>

/**
 * Makes sure that every sink of a config is there and lets us write, before anything costs time. Throws a PipelineError for
 * one that is not.
 */
export const connectSinks = async (
  { tensorboard, mlflow, trackio }: ExportsSection,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<OpenSinks> => {
  const remote = [
    ...(mlflow === null ? [] : [await connectMlflow(mlflow, env, signal)]),
    ...(trackio === null ? [] : [await connectTrackio(trackio, env, signal)]),
  ]
  return async (run, label) => {
    const sinks: Sink[] = []
    try {
      if (tensorboard) sinks.push(await openEventFile(run, label.attempt))
      for (const open of remote) sinks.push(await open(label))
    } catch (error) {
      // What is open already is a file here, or a run on a server that waits for its end.
      await Promise.all(sinks.map((sink) => sink.close('failed', signal).catch(() => undefined)))
      throw error
    }
    return sinks
  }
}
