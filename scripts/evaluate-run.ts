import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../configs/schema.ts'
import { PipelineError } from '../data/errors.ts'
import { bindPool } from '../data/pool/bind.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { EvaluationSummary } from '../data/records/run.ts'
import { createJudge } from '../judge/create.ts'
import type { OpenJudge } from '../judge/judge.ts'
import { createScorer } from '../rewards/scorer.ts'
import type { BoundPrompt } from '../trainer/bind-pool.ts'
import { chooseCanaries } from '../trainer/canary.ts'
import { findCheckpoint, workerState, type LoopState } from '../trainer/checkpoint.ts'
import { chooseHeldout, evaluate } from '../trainer/evaluate.ts'
import type { Policy } from '../trainer/generate.ts'
import type { Learner } from '../trainer/learner.ts'
import { acquireLock } from '../trainer/lock.ts'
import { Publisher } from '../trainer/publish.ts'
import type { RunDirectory } from '../trainer/run-directory.ts'
import type { AdapterRef } from '../trainer/sampler.ts'
import { openServices, type Services } from '../trainer/services.ts'

export interface EvaluateRunRequest {
  readonly run: RunDirectory
  readonly config: Config
  readonly prompts: readonly Prompt[]
  /** How many of them are used, an equal part of each node. */
  readonly most: number
  readonly name: string
  readonly samples: number
  readonly cwd: string
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
  readonly onProgress: (done: number, total: number) => void
}

/** The adapter that a checkpoint was made with: stored once, never changed. */
const storedAdapter = async (run: RunDirectory, directory: string, version: number): Promise<AdapterRef> => {
  const location = join(run.adapters, directory)
  const file = join(location, 'adapter_model.safetensors')
  if (!existsSync(file)) {
    throw new PipelineError('checkpoint', `the adapter of policy version ${version} is not there: ${file}`, {
      remedy: 'The run was copied in part: copy its adapters/ too.',
    })
  }
  const weights = await readFile(file)
  return { version, location, sha256: createHash('sha256').update(weights).digest('hex'), bytes: weights.length }
}

/** A checkpoint and the adapter that belongs to it; null at version 0. */
interface Restorable {
  readonly state: LoopState
  readonly adapter: AdapterRef | null
}

/** Found before any process is started: what is missing on disk is said at once. */
const newestCheckpoint = async (run: RunDirectory): Promise<Restorable> => {
  const state = await findCheckpoint(run.checkpoints)
  if (state === null) {
    throw new PipelineError('checkpoint', `run ${run.id} has no checkpoint yet`, {
      remedy: 'Let it train up to its first one.',
    })
  }
  return {
    state,
    adapter: state.adapter === null ? null : await storedAdapter(run, state.adapter, state.policyVersion),
  }
}

const bind = async (request: EvaluateRunRequest, learner: Learner): Promise<BoundPrompt[]> => {
  const { prompts, most, config, signal, onWarning } = request
  const ids = await learner.tokenize(
    prompts.map(({ id, messages }) => ({ id, messages })),
    signal,
  )
  const idsOf = new Map(prompts.map(({ id }, i) => [id, ids[i] ?? []]))
  const lengths = new Map([...idsOf].map(([id, tokens]) => [id, tokens.length]))
  const { kept, refused } = bindPool(prompts, lengths, config.model.maxPromptTokens)
  if (refused.length > 0) onWarning(`${refused.length} prompts are longer than model.maxPromptTokens and are left out`)
  const bound = kept.map((prompt) => ({ prompt, tokenIds: idsOf.get(prompt.id) ?? [] }))
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
  judge: OpenJudge | null,
): Promise<EvaluationSummary> => {
  const { run, config, name, samples, signal, onProgress } = request
  const prompts = await bind(request, services.learner)
  const trained = await restorePolicy(request, services, from, prompts)
  return await evaluate({
    ...{ name, prompts, trained, samples, signal, onProgress },
    directory: run.evaluation(name),
    sampler: services.sampler,
    scorer: createScorer(config.rewards, judge),
    judgeName: judge?.name ?? 'none',
    maxTokens: config.model.maxCompletionTokens,
    temperature: config.sampling.temperature,
    seed: config.run.seed,
    concurrency: config.sampling.concurrency,
  })
}

const evaluateInWorker = async (
  request: EvaluateRunRequest,
  from: Restorable,
  judge: OpenJudge | null,
): Promise<EvaluationSummary> => {
  const { run, config, cwd, signal } = request
  const services = await openServices({ config, run, cwd, signal })
  try {
    return await evaluateWith(request, from, services, judge)
  } finally {
    await services.stop()
  }
}

/**
 * Compares the base with the newest checkpoint of a run, in a worker of its own. The run is locked meanwhile; only its
 * eval/ and logs/ change.
 */
export const evaluateRun = async (request: EvaluateRunRequest): Promise<EvaluationSummary> => {
  const { run, config, cwd, signal } = request
  const from = await newestCheckpoint(run)
  const release = await acquireLock(run.lock)
  try {
    const judge = await createJudge(config.judge, { cwd, env: process.env, signal })
    try {
      return await evaluateInWorker(request, from, judge)
    } finally {
      await judge?.close()
    }
  } finally {
    await release()
  }
}
