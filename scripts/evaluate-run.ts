import type { Config } from '../configs/schema.ts'
import { PipelineError } from '../data/errors.ts'
import type { Prompt } from '../data/records/prompt.ts'
import { createJudge } from '../judge/create.ts'
import { noticeText, type Judge } from '../judge/judge.ts'
import { createScorer } from '../rewards/scorer.ts'
import { bindPrompts, type BoundPrompt } from '../trainer/bind-pool.ts'
import { chooseCanaries } from '../trainer/canary.ts'
import { workerState } from '../trainer/checkpoint.ts'
import { chooseCheckpoint, type CheckpointChoice, type Restorable } from '../trainer/evaluation/choose-checkpoint.ts'
import { evaluate, type Evaluation } from '../trainer/evaluation/evaluate.ts'
import { chooseHeldout } from '../trainer/evaluation/heldout.ts'
import type { Policy } from '../trainer/generate.ts'
import type { Learner } from '../trainer/learner.ts'
import { acquireLock } from '../trainer/lock.ts'
import { Publisher } from '../trainer/publish.ts'
import type { RunDirectory } from '../trainer/run-directory.ts'
import { openServices, type Services } from '../trainer/services.ts'

export interface EvaluateRunRequest {
  readonly run: RunDirectory
  readonly config: Config
  /** Which policy is compared with the base. */
  readonly checkpoint: CheckpointChoice
  readonly prompts: readonly Prompt[]
  /** How many of them are used, an equal part of each node. */
  readonly most: number
  readonly name: string
  /** Part of the sampling seeds: evaluations of several checkpoints under one stage sample alike. */
  readonly stage: string
  readonly samples: number
  readonly cwd: string
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
  readonly onProgress: (done: number, total: number) => void
  /** Told how the start of the processes goes, a download included. */
  readonly onStatus: (text: string) => void
}

const bind = async (request: EvaluateRunRequest, learner: Learner): Promise<BoundPrompt[]> => {
  const { prompts, most, config, signal, onWarning } = request
  const { bound, refused } = await bindPrompts(prompts, learner, config.model.maxPromptTokens, signal)
  if (refused.length > 0) onWarning(`${refused.length} prompts are longer than model.maxPromptTokens and are left out`)
  if (bound.length > 0) return chooseHeldout(bound, most)
  throw new PipelineError('pool', 'no prompt is left to evaluate on', {
    remedy: 'Give other prompts, or raise model.maxPromptTokens.',
  })
}

/** Puts worker and sampler at the checkpoint's version, and proves that both serve it. */
const restorePolicy = async (
  { signal, onWarning }: EvaluateRunRequest,
  { learner, sampler }: Services,
  { state, adapter }: Restorable,
  prompts: readonly BoundPrompt[],
): Promise<Policy> => {
  const { runId, policyVersion: version, policyName: name } = state
  await learner.loadState(workerState(state), signal)
  const { dtype } = await learner.info(signal)
  const publisher = new Publisher({
    sampler,
    learner,
    runId,
    attempt: 1,
    canaries: chooseCanaries(prompts),
    dtype,
    onWarning,
  })
  const base = await publisher.openBase(signal)
  if (adapter === null) return base
  const policy = { version, name }
  await publisher.deliver(policy, adapter, signal)
  return policy
}

const evaluateWith = async (
  request: EvaluateRunRequest,
  from: Restorable,
  services: Services,
  judge: Judge | null,
): Promise<Evaluation> => {
  const { run, config, name, stage, samples, signal, onProgress } = request
  const prompts = await bind(request, services.learner)
  const trained = await restorePolicy(request, services, from, prompts)
  return await evaluate({
    ...{ name, stage, run, prompts, trained, samples, signal, onProgress },
    step: from.state.nextStep,
    adapter: from.state.adapter,
    sampler: services.sampler,
    scorer: createScorer(config.rewards, judge),
    rewards: config.rewards,
    judgeName: judge?.name ?? 'none',
    maxTokens: config.model.maxCompletionTokens,
    temperature: config.sampling.temperature,
    seed: config.run.seed,
    concurrency: config.sampling.concurrency,
  })
}

const withServices = async (
  request: EvaluateRunRequest,
  from: Restorable,
  judge: Judge | null,
): Promise<Evaluation> => {
  const { config, run, cwd, signal, onWarning, onStatus: onProgress } = request
  const services = await openServices({ config, run, cwd, signal, onWarning, onProgress })
  services.sampler.watch?.(({ text }) => request.onWarning(text))
  try {
    return await evaluateWith(request, from, services, judge)
  } finally {
    await services.stop()
  }
}

/**
 * Compares the base with a checkpoint of a run, in a worker of its own. The run is locked meanwhile; only its eval/ and
 * logs/ change.
 */
export const evaluateRun = async (request: EvaluateRunRequest): Promise<Evaluation> => {
  const { run, config, cwd, signal } = request
  // What is missing on disk is said before any process is started.
  const from = await chooseCheckpoint(run, request.checkpoint)
  const release = await acquireLock(run.lock)
  try {
    const judge = await createJudge(config.judge, { cwd, env: process.env, signal })
    judge?.watch?.((notice) => request.onWarning(noticeText(notice)))
    try {
      return await withServices(request, from, judge)
    } finally {
      await judge?.close()
    }
  } finally {
    await release()
  }
}
