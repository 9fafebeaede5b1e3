import type { Config } from '../configs/schema.ts'
import { connectSinks } from '../trainer/exports/connect.ts'
import { Follower } from '../trainer/exports/follow.ts'
import { flatParams } from '../trainer/exports/label.ts'
import type { SinkEnding } from '../trainer/exports/sink.ts'
import { findStartingPoint } from '../trainer/resume.ts'
import type { RunDirectory } from '../trainer/run-directory.ts'
import type { TrainingOutcome } from '../trainer/train.ts'

/** How long the end of a training may wait for a slow server. */
const patienceMs = 10_000

export interface TrainExports {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

const start = async (
  { config, say }: TrainExports,
  open: Awaited<ReturnType<typeof connectSinks>>,
  run: RunDirectory,
): Promise<Follower | null> => {
  const { attempt } = await findStartingPoint(run)
  const label = { name: run.id, attempt, startedAt: Date.now(), params: flatParams(config) }
  const sinks = await open(run, label)
  if (sinks.length === 0) return null
  const onWarning = (message: string): void => {
    say(`warning: ${message}`)
    const event = { at: new Date().toISOString(), attempt, step: null, kind: 'warning', message } as const
    run.appendEvent(event).catch((error: unknown) => say(`warning: ${(error as Error).message}`))
  }
  const everyMs = config.exports.everySeconds * 1000
  return new Follower({ path: run.metrics, attempt, sinks, everyMs, patienceMs, onWarning })
}

const endingOf = ({ kind }: TrainingOutcome): SinkEnding => (kind === 'finished' ? 'finished' : 'stopped')

/**
 * Sends the metrics of a training to where its config says, while `work` goes on. `work` calls `follow` when the run's
 * directory is there. A sink that cannot start is an error; one that fails later is a warning.
 */
export const withExports = async (
  exports: TrainExports,
  work: (follow: (run: RunDirectory) => Promise<void>) => Promise<TrainingOutcome>,
): Promise<TrainingOutcome> => {
  const open = await connectSinks(exports.config.exports, exports.env, exports.signal)
  let follower: Follower | null = null
  let ending: SinkEnding = 'failed'
  try {
    const outcome = await work(async (run) => {
      follower = await start(exports, open, run)
    })
    ending = endingOf(outcome)
    return outcome
  } finally {
    // Assigned in a callback, which the compiler does not follow.
    await (follower as Follower | null)?.close(ending)
  }
}
