import { hostname } from 'node:os'
import { promptsOfStep } from '../data/pool/sampler.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { SessionRequest } from '../data/records/update.ts'
import type { Scorer } from '../rewards/scorer.ts'
import { checkPoolSize, tokenizePool, type BoundPrompt, type TokenizedPool } from './bind-pool.ts'
import { chooseCanaries } from './canary.ts'
import { workerState, type LoopState } from './checkpoint.ts'
import type { TrainerConfig } from './config.ts'
import type { Policy } from './generate.ts'
import type { LearnerInfo } from './learner.ts'
import type { LoopContext } from './loop.ts'
import { requireContext, settleMeta, type OpenRun } from './open-run.ts'
import type { Progress } from './progress.ts'
import { forgetEarlierAttempts, Publisher } from './publish.ts'
import type { Recorder } from './recorder.ts'
import { rewind } from './resume.ts'
import type { Services } from './services.ts'

export interface AttemptRequest {
  readonly config: TrainerConfig
  readonly pool: readonly Prompt[]
  /** What is known already and should be told and recorded when the run starts. */
  readonly warnings: readonly string[]
  readonly scorer: Scorer
  readonly judgeName: string
  readonly opened: OpenRun
  readonly services: Services
  readonly recorder: Recorder
  readonly progress: Progress
  /** Ends the preparation. */
  readonly starting: AbortSignal
  /** Ends a step that is under way. */
  readonly stepping?: AbortSignal | undefined
}

/** One start of a run, ready for its first step. */
export interface Attempt {
  readonly context: LoopContext
  readonly state: LoopState
  readonly pool: TokenizedPool
}

/** The settings that the worker keeps for the whole run. */
export const sessionRequest = (config: TrainerConfig, runId: string): SessionRequest => {
  const { learningRate, betas, epsilon, weightDecay, maxGradNorm, warmupFraction, schedule } = config.optimizer
  const warmupSteps = Math.ceil(warmupFraction * config.run.steps)
  const decaySteps = schedule === 'linear' ? config.run.steps - warmupSteps : 0
  return {
    runId,
    seed: config.run.seed,
    lora: { ...config.lora, dropout: 0 },
    optimizer: { learningRate, betas, epsilon, weightDecay, warmupSteps, decaySteps, maxGradNorm },
  }
}

/** The prompts of each step under the run's seed, from the prompts that fit the model. */
export const stepPrompts = (
  train: readonly BoundPrompt[],
  seed: number,
  promptsPerStep: number,
): ((step: number) => BoundPrompt[]) => {
  const byId = new Map(train.map((bound) => [bound.prompt.id, bound]))
  const prompts = train.map(({ prompt }) => prompt)
  return (step) => promptsOfStep(prompts, { seed, step, promptsPerStep }).flatMap(({ id }) => byId.get(id) ?? [])
}

/** What people should know about a pool before the first step. */
const tellAboutPool = async (request: AttemptRequest, { train, heldout, refused }: TokenizedPool): Promise<void> => {
  const { config, progress, recorder } = request
  progress.note(`pool: ${train.length} training and ${heldout.length} held-out prompts`)
  const tooLong = `${refused.length} prompts are longer than model.maxPromptTokens and are left out (longest: ${refused[0]?.tokens ?? 0} tokens); meta.json lists them`
  const warnings = [
    ...request.warnings,
    ...(refused.length === 0 ? [] : [tooLong]),
    ...checkPoolSize({ train: train.length, heldout: heldout.length }, config),
  ]
  for (const message of warnings) {
    progress.note(`warning: ${message}`)
    await recorder.event('warning', message)
  }
}

/** Puts the worker where the run is: a fresh session, or the checkpoint's. Both sides forget what came after it. */
const restore = async ({ config, opened, services, starting: signal }: AttemptRequest): Promise<void> => {
  const { run, attempt, checkpoint } = opened
  if (attempt > 1) {
    await forgetEarlierAttempts(services.sampler, run.id, signal)
    await rewind(run, checkpoint)
  }
  if (checkpoint === null) await services.learner.open(sessionRequest(config, run.id), signal)
  else await services.learner.loadState(workerState(checkpoint), signal)
}

/** Proves the base model, then brings the checkpoint's version to the sampler under a name of this attempt. */
const openPolicy = async (
  publisher: Publisher,
  { config, opened: { checkpoint }, starting: signal }: AttemptRequest,
): Promise<{ policy: Policy; adapter: string | null }> => {
  const base = await publisher.openBase(signal)
  if (checkpoint === null || checkpoint.policyVersion === 0) {
    if (config.sampling.server.kind !== 'embedded') await publisher.rehearse(signal)
    return { policy: base, adapter: null }
  }
  const { policy, directory } = await publisher.publish(checkpoint.policyVersion, signal)
  return { policy, adapter: directory }
}

/** Takes the attempt's number before anything is made under it: names of a failed start are not used again. */
const announce = async ({ opened, progress, recorder }: AttemptRequest, info: LearnerInfo): Promise<void> => {
  const { run, attempt, checkpoint } = opened
  const fromStep = checkpoint?.nextStep ?? 0
  const worker = {
    device: info.device,
    dtype: info.dtype,
    threads: info.threads,
    maxContext: info.maxContext,
    ...info.versions,
  }
  const at = new Date().toISOString()
  await run.appendAttempt({
    attempt,
    at,
    fromStep,
    fromVersion: checkpoint?.policyVersion ?? 0,
    pid: process.pid,
    host: hostname(),
    worker,
  })
  const what = `${info.architecture} with ${info.parameters.toLocaleString('en')} parameters, ${info.dtype} on ${info.device}, ${info.threads} threads`
  const message = attempt === 1 ? `started: ${what}` : `attempt ${attempt} from step ${fromStep}: ${what}`
  await recorder.event(attempt === 1 ? 'started' : 'resumed', message, fromStep)
  progress.note(`run ${run.id} ${message}`)
}

/** Binds the pool, restores the worker, proves the sampler: everything between two running processes and the first step. */
export const startAttempt = async (request: AttemptRequest): Promise<Attempt> => {
  const { config, opened, services, scorer, progress, starting: signal, stepping } = request
  const { run, attempt, checkpoint } = opened
  const { sampler, learner } = services
  const { recorder } = request
  progress.status('reading the pool with the tokenizer of the model')
  const info = await learner.info(signal)
  requireContext(info, config.model.maxPromptTokens, config.model.maxCompletionTokens)
  const pool = await tokenizePool(request.pool, learner, config.model.maxPromptTokens, signal)
  const { judgeName: judge } = request
  await settleMeta({
    run,
    seed: config.run.seed,
    info,
    pool: request.pool,
    bound: pool,
    judge,
    rewardMaximum: scorer.maximum,
  })
  await tellAboutPool(request, pool)

  await announce(request, info)
  await restore(request)
  const onWarning = (message: string): void => recorder.warning(message)
  const canaries = chooseCanaries(pool.train)
  const publisher = new Publisher({ sampler, learner, runId: run.id, attempt, canaries, dtype: info.dtype, onWarning })
  const { policy, adapter } = await openPolicy(publisher, request)
  const state: LoopState = {
    runId: run.id,
    nextStep: checkpoint?.nextStep ?? 0,
    policyVersion: policy.version,
    policyName: policy.name,
    adapter,
    totalTokens: checkpoint?.totalTokens ?? 0,
  }
  const promptsOf = stepPrompts(pool.train, config.run.seed, config.sampling.promptsPerStep)
  return {
    pool,
    state,
    context: {
      config,
      runId: run.id,
      attempt,
      sampler,
      learner,
      scorer,
      publisher,
      recorder,
      promptsOf,
      signal: stepping,
    },
  }
}
