import type { JudgeConfig } from '../../judge/config.ts'
import type { TrainerConfig } from '../config.ts'
import { activationBytes, adapterNumbers, cacheWidth, targeted, weightBytes } from './footprint.ts'
import type { ModelDims } from './model-dims.ts'

/** Shares of one process, in bytes. A process without dims could not be worked out: only its fraction is known. */
export interface MemoryShare {
  readonly process: 'policy server' | 'judge server' | 'worker'
  readonly fraction: number
  /** What it may take: its fraction of the GPU. */
  readonly limit: number
  /** What it cannot do without, by purpose; null where the model's config is not known. */
  readonly needs: Readonly<Record<string, number>> | null
  /** Sequences of full length that a server's cache holds at a time; null for the worker. */
  readonly sequences: number | null
}

export interface MemoryPlan {
  readonly gpu: { readonly name: string; readonly bytes: number; readonly found: boolean }
  readonly reserve: number
  readonly shares: readonly MemoryShare[]
  /** Why this cannot work; empty when it fits. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

export interface MemoryFacts {
  /** Null: no GPU was found. */
  readonly gpu: { readonly name: string; readonly totalBytes: number } | null
  readonly policy: ModelDims | null
  readonly judge: ModelDims | null
}

export type PlannedConfig = TrainerConfig & { readonly judge: JudgeConfig }

const gibi = 2 ** 30
/** Usable memory of the reference, an A100 80GB, as its driver reports it: a little under the 80 GiB on its label. */
const referenceGiB = 79
/** An allowance, not a measurement: an engine's CUDA context, CUDA graphs and the activations of one batch. */
const engineOverhead = 2 * gibi
/** The same for the worker: kernels' workspace and what torch's allocator cannot use of its blocks. */
const workerOverhead = gibi
const bytesOfFloat = 4
const bytesOfHalf = 2
/** A trained number: itself, its gradient, the optimizer's two moments, in float32. */
const copiesInTraining = 4
/** Numbers of one chunk of logits, as in the worker's logprobs.py. */
export const logitChunk = 2 ** 23
/** One chunk as logits, log-softmax, probabilities and gradient, in float32. */
const logitChunkBytes = 4 * bytesOfFloat * logitChunk

const sum = (parts: Readonly<Record<string, number>>): number => Object.values(parts).reduce((a, b) => a + b, 0)
const gib = (bytes: number): string => `${(bytes / gibi).toFixed(1)} GiB`

/** Ranks that vLLM can be started for (--max-lora-rank). */
export const engineRanks = [1, 8, 16, 32, 64, 128, 256, 320, 512] as const
export const engineRank = (rank: number): number => engineRanks.find((one) => one >= rank) ?? engineRanks.at(-1)!

interface Server {
  readonly process: 'policy server' | 'judge server'
  readonly fraction: number
  readonly dims: ModelDims | null
  readonly numberBytes: number
  readonly maxModelLen: number
  /** Numbers in the adapter slots of the GPU. */
  readonly adapters: number
}

const serverShare = (server: Server, gpuBytes: number): MemoryShare => {
  const { process, fraction, dims } = server
  const limit = fraction * gpuBytes
  if (dims === null) return { process, fraction, limit, needs: null, sequences: null }
  const fixed = {
    weights: weightBytes(dims, server.numberBytes),
    ...(server.adapters === 0 ? {} : { adapters: server.adapters * server.numberBytes }),
    engine: engineOverhead,
  }
  const sequence = server.maxModelLen * cacheWidth(dims) * server.numberBytes
  const needs = { ...fixed, 'cache of one sequence': sequence }
  return { process, fraction, limit, needs, sequences: Math.max(0, Math.floor((limit - sum(fixed)) / sequence)) }
}

/** What the worker needs at its peak: the backward pass of the largest micro-batch. */
const workerNeeds = (config: PlannedConfig, dims: ModelDims): Readonly<Record<string, number>> => {
  const { model, sampling, lora, worker } = config
  const prompt = model.maxPromptTokens
  const completion = model.maxCompletionTokens
  const places = Math.max(worker.tokenBudget, prompt + completion)
  const group = Math.max(1, Math.min(sampling.groupSize, Math.floor((places - prompt) / completion)))
  const seen = (group * (prompt + completion)) / (prompt + group * completion)
  const modules = targeted(dims, lora.targetModules).length
  const groups = Math.min(sampling.concurrency, sampling.promptsPerStep)
  const cached = groups * (prompt + sampling.groupSize * completion)
  return {
    weights: weightBytes(dims, bytesOfHalf),
    'adapter and optimizer': adapterNumbers(dims, lora) * bytesOfFloat * copiesInTraining,
    [`activations of ${places} tokens`]: activationBytes(dims, { places, rank: lora.rank, modules, seen }),
    logits: logitChunkBytes,
    ...(sampling.server.kind === 'embedded' ? { 'cache while sampling': cached * cacheWidth(dims) * bytesOfHalf } : {}),
    'torch and CUDA': workerOverhead,
  }
}

const workerShare = (config: PlannedConfig, dims: ModelDims | null, gpuBytes: number): MemoryShare[] => {
  const { worker } = config
  if (worker.kind === 'attach' || worker.device === 'cpu') return []
  const fraction = worker.memoryFraction
  const needs = dims === null ? null : workerNeeds(config, dims)
  return [{ process: 'worker', fraction, limit: fraction * gpuBytes, needs, sequences: null }]
}

const policyServer = ({ sampling, model, lora }: PlannedConfig, dims: ModelDims | null): Server[] => {
  const { server } = sampling
  if (server.kind !== 'spawn') return []
  const slot = dims === null ? 0 : adapterNumbers(dims, { ...lora, rank: engineRank(lora.rank) })
  return [
    {
      process: 'policy server',
      fraction: server.memoryFraction,
      dims,
      numberBytes: server.dtype === 'float32' ? bytesOfFloat : bytesOfHalf,
      maxModelLen: model.maxPromptTokens + model.maxCompletionTokens,
      adapters: server.maxLoras * slot,
    },
  ]
}

const judgeServer = ({ judge }: PlannedConfig, dims: ModelDims | null): Server[] => {
  if (judge.kind !== 'llm' || judge.server === null) return []
  const { memoryFraction: fraction, maxModelLen } = judge.server
  return [{ process: 'judge server', fraction, dims, numberBytes: bytesOfHalf, maxModelLen, adapters: 0 }]
}

const shareProblem = ({ process, fraction, limit, needs }: MemoryShare): string[] =>
  needs === null || sum(needs) <= limit
    ? []
    : [
        `the ${process} needs ${gib(sum(needs))} (${Object.entries(needs)
          .map(([name, bytes]) => `${name} ${gib(bytes)}`)
          .join(', ')}), and its fraction ${fraction} of the GPU is ${gib(limit)}`,
      ]

const problemsOf = (shares: readonly MemoryShare[], reserve: number, gpuBytes: number): string[] => {
  const given = shares.reduce((total, { fraction }) => total + fraction, 0)
  // Fractions are decimals that people write: their sum is compared as they would.
  const isTooMuch = Math.round((given + reserve) * 1e6) > 1e6
  const sumProblem = `the fractions ${shares.map(({ process, fraction }) => `${process} ${fraction}`).join(', ')} and the reserve ${reserve} add up to ${(given + reserve).toFixed(2)} of a GPU of ${gib(gpuBytes)}`
  return [...(isTooMuch ? [sumProblem] : []), ...shares.flatMap(shareProblem)]
}

const warningsOf = (shares: readonly MemoryShare[], config: PlannedConfig): string[] => {
  const { sampling, judge } = config
  const wanted = {
    'policy server': sampling.concurrency * sampling.groupSize,
    'judge server': judge.kind === 'llm' ? judge.concurrency : 0,
    worker: 0,
  }
  return shares.flatMap(({ process, sequences, needs }) => {
    if (needs === null) return [`the size of the ${process}’s model is not known: its share of the GPU is not checked`]
    return sequences !== null && sequences > 0 && sequences < wanted[process]
      ? [`the ${process} can hold ${sequences} of ${wanted[process]} sequences of full length at a time; others wait`]
      : []
  })
}

/** Is anything of this config certain to run on a GPU? */
export const needsGpu = ({ sampling, judge, worker }: PlannedConfig): boolean =>
  sampling.server.kind === 'spawn' ||
  (judge.kind === 'llm' && judge.server !== null) ||
  (worker.kind === 'spawn' && worker.device === 'cuda')

/**
 * Divides one GPU among the processes that are started here; null when none of them uses a GPU. Pure. Sources of the
 * formulas: docs/gpu.md.
 */
export const planMemory = (config: PlannedConfig, facts: MemoryFacts): MemoryPlan | null => {
  const { worker, gpu: section } = config
  const mayUseGpu = worker.kind === 'spawn' && worker.device === 'auto' && facts.gpu !== null
  if (!needsGpu(config) && !mayUseGpu) return null
  const bytes = section.memoryGiB === null ? (facts.gpu?.totalBytes ?? referenceGiB * gibi) : section.memoryGiB * gibi
  const name = facts.gpu?.name ?? (section.memoryGiB === null ? 'the reference, an A100 80GB' : 'as gpu.memoryGiB says')
  const servers = [...judgeServer(config, facts.judge), ...policyServer(config, facts.policy)]
  const shares = [...servers.map((server) => serverShare(server, bytes)), ...workerShare(config, facts.policy, bytes)]
  return {
    gpu: { name, bytes, found: facts.gpu !== null },
    reserve: section.reserve,
    shares,
    problems: problemsOf(shares, section.reserve, bytes),
    warnings: warningsOf(shares, config),
  }
}
