import { join } from 'node:path'
import type { Prompt } from '../data/records/prompt.ts'
import type { EvaluationSummary } from '../data/records/run.ts'
import type { Judge } from '../judge/judge.ts'
import type { RewardsConfig } from '../rewards/config.ts'
import { createScorer } from '../rewards/scorer.ts'
import { startAttempt, type Attempt } from './attempt.ts'
import { findCheckpoint, type LoopState } from './checkpoint.ts'
import type { TrainerConfig } from './config.ts'
import { RunEvaluator } from './evaluation/run-evaluator.ts'
import { openRun, type OpenRun } from './open-run.ts'
import { createProgress, type Progress, type ProgressStream } from './progress.ts'
import { adapterPath, Recorder } from './recorder.ts'
import type { RunDirectory } from './run-directory.ts'
import { openServices, type Services } from './services.ts'
import { rescue, runSteps, type StepsRequest } from './steps.ts'
import { startHeartbeat } from './supervision/heartbeat.ts'
import { OutageWatch } from './supervision/outage-watch.ts'

export interface TrainingOptions {
  readonly config: TrainerConfig & { readonly rewards: RewardsConfig }
  /** All prompts, both splits. */
  readonly pool: readonly Prompt[]
  /** What was found out about pool and plan beforehand: shown, and recorded as events of the run. */
  readonly warnings?: readonly string[]
  /** Null: no judge, and no judge component. */
  readonly judge: Judge | null
  /** What the config was made from; written into a new run. */
  readonly source: {
    readonly name: string
    readonly text: string | null
    readonly values: unknown
    readonly provenance: unknown
  }
  /** Id of a run to continue; null: a new one. */
  readonly resume?: string | null
  /** Called once the run's directory is there and held, before any process is started. */
  readonly onOpened?: ((run: RunDirectory) => Promise<void>) | undefined
  /** Called when nothing more is done for the run, while it is still held: what writes into it ends here. */
  readonly onEnding?: ((kind: TrainingOutcome['kind'] | 'failed') => Promise<void>) | undefined
  /** Aborted: finish the step under way, save a checkpoint, return. */
  readonly stop?: AbortSignal | undefined
  /** Aborted: end now. No process is left behind. */
  readonly abort?: AbortSignal | undefined
  /** Called when everything is ready and the first step begins: a later failure is one of training, not of preparation. */
  readonly onStart?: (() => void) | undefined
  readonly progress?: ProgressStream
  readonly cwd?: string
}

export interface TrainingOutcome {
  /** finished: all steps, and the evaluation if one was asked for. stopped, aborted: as the signals said. */
  readonly kind: 'finished' | 'stopped' | 'aborted'
  readonly runId: string
  /** Absolute path of the run. */
  readonly directory: string
  /** Steps that a resume need not make again. */
  readonly step: number
  readonly steps: number
  readonly policyVersion: number
  /** Absolute path of that version's adapter; null at version 0. */
  readonly adapter: string | null
  readonly evaluation: EvaluationSummary | null
  /** Id to resume with; null when there is nothing left to do. */
  readonly resumeWith: string | null
}

type Ending = Pick<TrainingOutcome, 'kind' | 'evaluation'> & { readonly state: LoopState | null }

/** One call of runTraining, with what it has come to. */
interface Session {
  readonly options: TrainingOptions
  readonly opened: OpenRun
  readonly recorder: Recorder
  readonly progress: Progress
  /** After the last complete step; null before anything is known. */
  state: LoopState | null
}

export const judgeName = (judge: Judge | null): string => judge?.name ?? 'none'

/** Aborted by either wish to stop: for what may be given up at once because no step is under way. */
const eitherStop = ({ stop, abort }: TrainingOptions): AbortSignal =>
  AbortSignal.any([stop, abort].filter((signal) => signal !== undefined))

/** Steps, then the evaluation if all steps are done and one is wanted. */
const stepAndEvaluate = async (session: Session, attempt: Attempt, request: StepsRequest): Promise<Ending> => {
  const { evaluation, run } = session.options.config
  const state = await runSteps(request)
  if (state.nextStep < run.steps) return { kind: 'stopped', evaluation: null, state }
  return { kind: 'finished', evaluation: evaluation.atEnd ? await request.evaluator.atEnd(state) : null, state }
}

/** Everything that needs the services. */
const train = async (session: Session, services: Services): Promise<Ending> => {
  const { options, recorder, progress } = session
  const { judge, stop, abort } = options
  const { sampler, workerGone } = services
  const watch = new OutageWatch({ judge, sampler, recorder, progress, stop, abort, state: () => session.state })
  try {
    // Without its worker a step cannot be finished, whatever else it waits for.
    const stepping = workerGone === undefined ? watch.signal : AbortSignal.any([watch.signal, workerGone])
    return await trainWatched(session, services, stepping)
  } finally {
    watch.close()
  }
}

/** `stepping` ends a step that is under way. */
const trainWatched = async (session: Session, services: Services, stepping: AbortSignal): Promise<Ending> => {
  const { options, opened, recorder, progress } = session
  const { config, pool, judge, stop, abort } = options
  const scorer = createScorer(config.rewards, judge)
  const attempt = await startAttempt({
    config,
    pool,
    warnings: options.warnings ?? [],
    scorer,
    judgeName: judgeName(judge),
    opened,
    services,
    recorder,
    progress,
    starting: eitherStop(options),
    stepping,
  })
  session.state = attempt.state
  const evaluator = new RunEvaluator({
    ...{ context: attempt.context, run: opened.run, heldout: attempt.pool.heldout, rewards: config.rewards },
    judgeName: judgeName(judge),
    signal: eitherStop(options),
    onStatus: (text) => progress.status(text),
  })
  await evaluator.open(attempt.state.nextStep)
  options.onStart?.()
  progress.status(`sampling step ${attempt.state.nextStep + 1}`)
  const onStep = (state: LoopState): void => void (session.state = state)
  const request: StepsRequest = { attempt, run: opened.run, progress, evaluator, stop, onStep }
  try {
    return await stepAndEvaluate(session, attempt, request)
  } catch (error) {
    // Writes that are under way end first; should one fail, what came before it is what has to be reported.
    await recorder.settle().catch(() => undefined)
    if (abort?.aborted === true) throw error
    // The failure itself is what has to be reported; that it also cost the steps since the last checkpoint is a note.
    await rescue(request, session.state, error).catch((second: unknown) => {
      const message = `no checkpoint could be made after the failure: ${(second as Error).message}`
      progress.note(`warning: ${message}`)
      recorder.warning(message)
    })
    throw error
  }
}

const withServices = async (session: Session): Promise<Ending> => {
  const { config, cwd } = session.options
  const signal = eitherStop(session.options)
  session.progress.status('starting the worker and loading the model')
  const services = await openServices({
    ...{ config, run: session.opened.run, cwd: cwd ?? process.cwd(), signal },
    onProgress: (text) => session.progress.note(text),
    onWarning: (text) => {
      session.progress.note(`warning: ${text}`)
      session.recorder.warning(text)
    },
  })
  try {
    return await train(session, services)
  } finally {
    await services.stop()
  }
}

const endings = {
  aborted: 'ended at once; a step that was under way is made again',
  stopped: 'stopped while no step was under way',
} as const

/**
 * A wish to stop ends in an outcome; anything else is recorded and goes up. A polite stop arrives here only while no step
 * is under way: the run then is where its newest checkpoint is.
 */
const afterFailure = async (
  { options, opened, recorder, progress, state }: Session,
  error: unknown,
): Promise<Ending> => {
  const { stop, abort } = options
  const stopped = stop?.aborted === true && error === stop.reason
  const kind = abort?.aborted === true ? 'aborted' : stopped ? 'stopped' : 'failed'
  const message = kind === 'failed' ? (error as Error).message : endings[kind]
  try {
    await recorder.status(kind, state, message)
    await recorder.event(kind === 'failed' ? 'failed' : 'stopped', message, state?.nextStep ?? null)
  } catch (second) {
    // What ended the run is what has to be reported: a full disk, very likely, that takes no record of it either.
    progress.note(`warning: the end of this attempt could not be recorded: ${(second as Error).message}`)
  }
  if (kind === 'failed') throw error
  return { kind, evaluation: null, state: await findCheckpoint(opened.run.checkpoints) }
}

/**
 * Trains: opens or makes the run, starts the worker, steps until the end or a stop, evaluates, and leaves no process.
 * Throws a PipelineError when training fails; the run's status then says why, and it can be resumed.
 */
export const runTraining = async (options: TrainingOptions): Promise<TrainingOutcome> => {
  const { config, source, pool, judge } = options
  const sources = { configText: source.text, values: source.values, provenance: source.provenance, pool }
  const opened = await openRun({
    section: config.run,
    configName: source.name,
    resume: options.resume ?? null,
    sources,
    judge: judgeName(judge),
  })
  const recorder = new Recorder(opened.run, opened.attempt, config.run.steps)
  const progress = createProgress(options.progress ?? process.stderr)
  const session: Session = { options, opened, recorder, progress, state: opened.checkpoint }
  const stopHeartbeat = startHeartbeat({
    recorder,
    onStall: (text) => {
      progress.note(`warning: ${text}`)
      recorder.warning(text)
    },
  })
  let kind: TrainingOutcome['kind'] | 'failed' = 'failed'
  try {
    await recorder.status('starting', opened.checkpoint)
    await options.onOpened?.(opened.run)
    const ending = await withServices(session)
    await recorder.status(ending.kind, ending.state)
    await recorder.event(
      ending.kind === 'finished' ? 'finished' : 'stopped',
      `after step ${ending.state?.nextStep ?? 0}`,
      ending.state?.nextStep ?? 0,
    )
    kind = ending.kind
    return outcome(session, ending)
  } catch (error) {
    const ending = await afterFailure(session, error)
    kind = ending.kind
    return outcome(session, ending)
  } finally {
    progress.close()
    await stopHeartbeat()
    // Nothing is written into a run once its lock is gone: neither by the caller nor what nobody waited for.
    try {
      await options.onEnding?.(kind)
    } finally {
      await recorder.settle().catch(() => undefined)
      await opened.release()
    }
  }
}

const outcome = ({ opened: { run }, options }: Session, { kind, evaluation, state }: Ending): TrainingOutcome => {
  const adapter = adapterPath(state)
  return {
    kind,
    runId: run.id,
    directory: run.root,
    step: state?.nextStep ?? 0,
    steps: options.config.run.steps,
    policyVersion: state?.policyVersion ?? 0,
    adapter: adapter === null ? null : join(run.root, adapter),
    evaluation,
    resumeWith: kind === 'finished' ? null : run.id,
  }
}
