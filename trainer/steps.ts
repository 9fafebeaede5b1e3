import { PipelineError, type Boundary } from '../data/errors.ts'
import type { Attempt } from './attempt.ts'
import { saveCheckpoint, type LoopState } from './checkpoint.ts'
import { trainStep } from './loop.ts'
import type { RunEvaluator } from './evaluation/run-evaluator.ts'
import type { Progress } from './progress.ts'
import { prune } from './retention.ts'
import type { RunDirectory } from './run-directory.ts'

export interface StepsRequest {
  readonly attempt: Attempt
  readonly run: RunDirectory
  readonly progress: Progress
  /** Looks at the policy between steps, and says which checkpoint is the best one. */
  readonly evaluator: RunEvaluator
  /** Aborted: no further step is begun. */
  readonly stop?: AbortSignal | undefined
  /** Told the state after each complete step. */
  readonly onStep: (state: LoopState) => void
}

/** Saves worker and loop and remembers that this version's adapter is wanted. Says so once, however often it is asked for. */
const checkpoint = async ({ attempt: { context }, run, evaluator }: StepsRequest, state: LoopState): Promise<void> => {
  const { keepCheckpoints } = context.config.run
  context.recorder.activity.enter('saving')
  const isNew = await saveCheckpoint(run.checkpoints, context.learner, state, keepCheckpoints, evaluator.bestStep)
  context.publisher.keepNewest()
  if (!isNew) return
  await prune(run, state, context.config.run.keepSteps)
  await context.recorder.event(
    'checkpoint',
    `step ${state.nextStep}, policy version ${state.policyVersion}`,
    state.nextStep,
  )
}

/** One step; null when it was given up because of a wish to stop while it waited for something that may never come. */
const stepUnlessStopped = async (
  { attempt: { context }, stop }: StepsRequest,
  state: LoopState,
): Promise<Awaited<ReturnType<typeof trainStep>> | null> => {
  try {
    return await trainStep(context, state)
  } catch (error) {
    if (stop?.aborted === true && error === stop.reason) return null
    throw error
  }
}

/** Runs steps until all are done or somebody wants to stop. The last state is always in a checkpoint. */
export const runSteps = async (request: StepsRequest): Promise<LoopState> => {
  const { context, state: start } = request.attempt
  const { steps, checkpointEvery } = context.config.run
  let state = start
  while (state.nextStep < steps && request.stop?.aborted !== true) {
    const done = await stepUnlessStopped(request, state)
    if (done === null) break
    state = done.state
    request.onStep(state)
    request.progress.step(done.metrics, steps)
    await context.recorder.status('running', state)
    const isBest = await request.evaluator.afterStep(state)
    if (isBest || (state.nextStep % checkpointEvery === 0 && state.nextStep < steps)) await checkpoint(request, state)
  }
  if (state.nextStep > start.nextStep) await checkpoint(request, state)
  return state
}

/** Without the worker there is nothing to save; where nothing can be written, nowhere to save it. */
const hopeless: ReadonlySet<Boundary> = new Set<Boundary>(['worker', 'checkpoint', 'storage'])

/**
 * After a failure of somebody else than the worker, the worker still holds the last complete step: it is saved so that
 * no step is lost.
 */
export const rescue = async (request: StepsRequest, state: LoopState, error: unknown): Promise<void> => {
  if (!(error instanceof PipelineError) || hopeless.has(error.boundary)) return
  const { session } = await request.attempt.context.learner.info()
  if (session?.runId === state.runId && session.version === state.policyVersion && state.nextStep > 0)
    await checkpoint(request, state)
}
