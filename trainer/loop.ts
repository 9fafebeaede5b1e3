import { PipelineError } from '../data/errors.ts'
import type { StepMetrics } from '../data/records/metrics.ts'
import type { UpdateBatch, UpdateResult } from '../data/records/update.ts'
import type { Scorer } from '../rewards/scorer.ts'
import { groupAdvantages } from './advantage.ts'
import type { BoundPrompt } from './bind-pool.ts'
import type { LoopState } from './checkpoint.ts'
import type { TrainerConfig } from './config.ts'
import { countsBetween } from './judge-metrics.ts'
import { generateGroups } from './generate.ts'
import type { Learner } from './learner.ts'
import { summariseStep, type StepTimes } from './metrics.ts'
import { lossConfig, packBatch } from './pack.ts'
import type { Published, Publisher } from './publish.ts'
import type { Recorder } from './recorder.ts'
import type { Sampler } from './sampler.ts'
import { requireJudged, scoreGroup, type AssessedGroup } from './score.ts'

/** Everything that a step works with. Nothing here changes from step to step except through the learner and the sampler. */
export interface LoopContext {
  readonly config: TrainerConfig
  readonly runId: string
  readonly attempt: number
  readonly sampler: Sampler
  readonly learner: Learner
  readonly scorer: Scorer
  readonly publisher: Publisher
  readonly recorder: Recorder
  /** The prompts of a step: a pure function of the step. */
  readonly promptsOf: (step: number) => readonly BoundPrompt[]
  /** Aborting ends the step at once. */
  readonly signal?: AbortSignal | undefined
}

/** Seconds since the last mark. */
const stopwatch = (): (() => number) => {
  let last = performance.now()
  return () => {
    const now = performance.now()
    const seconds = (now - last) / 1000
    last = now
    return seconds
  }
}

/** Samples all groups of a step; each is scored as soon as it arrives, beside the sampling of the others. */
const sampleAndScore = async (
  context: LoopContext,
  state: LoopState,
): Promise<{ groups: AssessedGroup[]; sample: number; score: number }> => {
  const { config, sampler, scorer, signal } = context
  const { activity } = context.recorder
  const prompts = context.promptsOf(state.nextStep)
  const started = performance.now()
  let sampled = started
  let missing = prompts.length
  activity.enter('sampling')
  const groups = await generateGroups(
    {
      sampler,
      policy: { version: state.policyVersion, name: state.policyName },
      prompts,
      step: state.nextStep,
      stage: state.nextStep,
      runSeed: config.run.seed,
      groupSize: config.sampling.groupSize,
      maxTokens: config.model.maxCompletionTokens,
      temperature: config.sampling.temperature,
      concurrency: config.sampling.concurrency,
      signal,
    },
    async (group, prompt, cancelled) => {
      sampled = performance.now()
      missing -= 1
      if (missing === 0) activity.enter('scoring')
      else activity.progressed()
      const assessed = await scoreGroup(scorer, prompt, group, cancelled)
      activity.progressed()
      return assessed
    },
  )
  return { groups, sample: (sampled - started) / 1000, score: (performance.now() - sampled) / 1000 }
}

/** Runs the optimizer step and refuses a result that cannot be right. */
const update = async (context: LoopContext, batch: UpdateBatch): Promise<UpdateResult> => {
  const result = await context.learner.update(batch, context.signal)
  requireSound(result, context.config.sampling.mismatchLimit)
  return result
}

const reportIt =
  'This is a fault of the worker, not of the config: report it with the update’s file and logs/worker.log.'

/**
 * One optimizer step a batch, against the worker's own old log-probs: the ratio is exactly 1 and nothing can be clipped.
 * At version 0 the adapter does nothing, so the KL to the base is exactly 0. Whatever differs is a fault, not a result.
 */
const requireSound = (result: UpdateResult, mismatchLimit: number): void => {
  const { low, high, region } = result.clipRatio
  if (low !== 0 || high !== 0 || region !== 0) {
    throw new PipelineError(
      'worker',
      `step ${result.step}: ${low} / ${high} of the ratios were clipped in the only update of a batch; it must be none`,
      { remedy: reportIt },
    )
  }
  if (result.fromVersion === 0 && result.kl !== 0) {
    throw new PipelineError(
      'worker',
      `the KL to the base model is ${result.kl} before the first update; it must be exactly 0`,
      { remedy: reportIt },
    )
  }
  if (!(result.mismatch.meanAbs <= mismatchLimit)) {
    const text = `step ${result.step}: log-probs of sampler and worker differ by ${result.mismatch.meanAbs.toFixed(4)} nats a token on average (limit ${mismatchLimit})`
    throw new PipelineError('sampler', text, {
      remedy:
        'A wrong adapter, another chat template or other sampling settings are likelier than rounding. sampling.mismatchLimit sets the limit.',
    })
  }
}

/**
 * One step: sample, score, advantages, update, publish, record. Gives the state after it. A step whose groups all have no
 * spread changes no weights and is recorded as such.
 */
export const trainStep = async (
  context: LoopContext,
  state: LoopState,
): Promise<{ state: LoopState; metrics: StepMetrics }> => {
  const { config, recorder, publisher, scorer } = context
  const step = state.nextStep
  const countsBefore = scorer.judge?.counts?.()
  const total = stopwatch()
  const lap = stopwatch()

  const { groups, sample, score } = await sampleAndScore(context, state)
  lap()
  const advantages = groupAdvantages(groups.map(toScoredGroup), config.grpo)
  recorder.rollouts(step, groups, advantages)
  const assessments = groups.flatMap((group) => group.assessments)
  requireJudged(scorer, assessments, `step ${step}`)
  const header = {
    runId: context.runId,
    step,
    fromVersion: state.policyVersion,
    tokenBudget: config.worker.tokenBudget,
    loss: lossConfig(config.grpo, config.model),
  }
  const batch = packBatch(
    header,
    groups.map(({ group }) => group),
    advantages,
  )
  lap()
  recorder.activity.enter('updating')
  const result = batch === null ? null : await update(context, batch)
  if (batch !== null && result !== null) recorder.update(batch, result)
  const updating = lap()
  recorder.activity.enter('publishing')
  const published = result === null ? null : await publisher.publish(result.version, context.signal)
  const publishing = lap()

  const next = nextState(state, groups, published)
  await recorder.settle()
  const spent = total()
  const times: StepTimes = {
    sample,
    score,
    update: updating,
    publish: publishing,
    other: spent - sample - score - updating - publishing,
  }
  const metrics = summariseStep({
    step,
    attempt: context.attempt,
    at: new Date().toISOString(),
    fromVersion: state.policyVersion,
    version: next.policyVersion,
    groups,
    advantages,
    update: result,
    canary: published,
    totalTokens: next.totalTokens,
    judge: countsBetween(countsBefore, scorer.judge?.counts?.()),
    times,
  })
  await recorder.finishStep(metrics)
  return { state: next, metrics }
}

const toScoredGroup = ({ group, assessments }: AssessedGroup) => ({
  promptId: group.promptId,
  node: group.node,
  scores: assessments.map(({ score }) => score),
})

const nextState = (state: LoopState, groups: readonly AssessedGroup[], published: Published | null): LoopState => {
  const tokens = groups
    .flatMap(({ group }) => group.completions)
    .reduce((sum, { tokenIds }) => sum + tokenIds.length, 0)
  const moved =
    published === null
      ? {}
      : { policyVersion: published.policy.version, policyName: published.policy.name, adapter: published.directory }
  return { ...state, ...moved, nextStep: state.nextStep + 1, totalTokens: state.totalTokens + tokens }
}
