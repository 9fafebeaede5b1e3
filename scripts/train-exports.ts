import type { Config } from '../configs/schema.ts'
import { connectSinks } from '../trainer/exports/connect.ts'
import { Follower } from '../trainer/exports/follow.ts'
import { flatParams } from '../trainer/exports/label.ts'
import { findStartingPoint } from '../trainer/resume.ts'
import type { RunDirectory } from '../trainer/run-directory.ts'
import type { TrainingOptions } from '../trainer/train.ts'

/** How long the end of a training may wait for a slow server. */
const patienceMs = 10_000

export interface TrainExports {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** A follower, and what it warned about, which is an event of the run. */
interface Following {
  readonly follower: Follower
  readonly warningsWritten: () => Promise<void>
}

const start = async (
  { config, say }: TrainExports,
  open: Awaited<ReturnType<typeof connectSinks>>,
  run: RunDirectory,
): Promise<Following | null> => {
  const { attempt } = await findStartingPoint(run)
  const label = { name: run.id, attempt, startedAt: Date.now(), params: flatParams(config) }
  const sinks = await open(run, label)
  if (sinks.length === 0) return null
  let written = Promise.resolve()
  const onWarning = (message: string): void => {
    say(`warning: ${message}`)
    const event = { at: new Date().toISOString(), attempt, step: null, kind: 'warning', message } as const
    written = written
      .then(() => run.appendEvent(event))
      .catch((error: unknown) => say(`warning: ${(error as Error).message}`))
  }
  const everyMs = config.exports.everySeconds * 1000
  const follower = new Follower({ path: run.metrics, attempt, sinks, everyMs, patienceMs, onWarning })
  return { follower, warningsWritten: () => written }
}

const endingOf = { finished: 'finished', stopped: 'stopped', aborted: 'stopped', failed: 'failed' } as const

/**
 * Sends the metrics of a training to where its config says, from when the run's directory is there to when it is let go. A
 * sink that is not there is an error now, one that cannot start is one when the run opens; one that fails later is a warning.
 */
export const exportsOf = async (exports: TrainExports): Promise<Pick<TrainingOptions, 'onOpened' | 'onEnding'>> => {
  const open = await connectSinks(exports.config.exports, exports.env, exports.signal)
  let following: Following | null = null
  return {
    onOpened: async (run) => {
      following = await start(exports, open, run)
    },
    onEnding: async (kind) => {
      await following?.follower.close(endingOf[kind])
      await following?.warningsWritten()
    },
  }
}
