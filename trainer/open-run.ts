import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { PipelineError } from '../data/errors.ts'
import { packageVersion } from '../data/package-root.ts'
import type { Prompt } from '../data/records/prompt.ts'
import type { RunMeta } from '../data/records/run.ts'
import type { TokenizedPool } from './bind-pool.ts'
import type { RunSection } from './config.ts'
import type { LearnerInfo } from './learner.ts'
import { acquireLock } from './lock.ts'
import { findStartingPoint, requireSame, type StartingPoint } from './resume.ts'
import { createRunDirectory, nextRunId, openRunDirectory, type RunDirectory, type RunSources } from './run-directory.ts'

/** A run that this process holds. */
export interface OpenRun extends StartingPoint {
  readonly run: RunDirectory
  /** Gives the run free for another process. */
  readonly release: () => Promise<void>
}

export interface OpenRunRequest {
  readonly section: RunSection
  /** Names a new run when the config does not. */
  readonly configName: string
  /** Continue this run instead of starting one. */
  readonly resume: string | null
  readonly sources: RunSources
  /** Name of the judge: a continued run must have the same one. */
  readonly judge: string
}

/** A run without its sources could not be continued: one whose sources cannot be written never was. */
const writeSources = async (run: RunDirectory, sources: RunSources): Promise<void> => {
  try {
    await run.writeSources(sources)
  } catch (error) {
    await rm(run.root, { recursive: true, force: true })
    throw error
  }
}

/** Makes a new run with its sources, or opens an existing one at its newest checkpoint; locks it either way. */
export const openRun = async ({ section, configName, resume, sources, judge }: OpenRunRequest): Promise<OpenRun> => {
  const run =
    resume === null
      ? await createRunDirectory(section.dir, section.id ?? (await nextRunId(section.dir, configName, new Date())))
      : await openRunDirectory(section.dir, resume)
  const release = await acquireLock(run.lock)
  try {
    if (resume === null) await writeSources(run, sources)
    const meta = await run.readMeta()
    // What needs no model is compared before one is loaded.
    if (meta !== null) requireSame(meta, { seed: section.seed, judge, poolHash: poolHash(sources.pool) })
    return { run, release, ...(await findStartingPoint(run)) }
  } catch (error) {
    await release()
    throw error
  }
}

/** Identity of a pool: its prompts with targets and splits, whatever their order. */
export const poolHash = (pool: readonly Prompt[]): string => {
  const lines = pool.map((prompt) => JSON.stringify(prompt)).toSorted()
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

export interface MetaRequest {
  readonly run: RunDirectory
  readonly seed: number
  readonly info: LearnerInfo
  readonly pool: readonly Prompt[]
  readonly bound: TokenizedPool
  readonly judge: string
  readonly rewardMaximum: number
}

/** Writes meta.json of a new run; of a continued one, checks that the base model is still the same. */
export const settleMeta = async (request: MetaRequest): Promise<void> => {
  const { run, seed, info, bound, judge, rewardMaximum } = request
  const existing = await run.readMeta()
  if (existing !== null) return requireSame(existing, { modelHash: info.modelHash })
  const { model: path, modelHash, architecture, parameters, dtype, device } = info
  const meta: RunMeta = {
    id: run.id,
    createdAt: new Date().toISOString(),
    seed,
    versions: {
      'drift-grpo': packageVersion(),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
      ...info.versions,
    },
    model: { path, hash: modelHash, architecture, parameters, dtype, device },
    pool: {
      hash: poolHash(request.pool),
      train: bound.train.length,
      heldout: bound.heldout.length,
      refused: [...bound.refused],
    },
    judge,
    rewardMaximum,
  }
  await run.writeMeta(meta)
}

/** Refuses lengths that the model has no positions for, before anything is sampled. */
export const requireContext = (info: LearnerInfo, promptTokens: number, completionTokens: number): void => {
  if (promptTokens + completionTokens <= info.maxContext) return
  throw new PipelineError(
    'config',
    `model.maxPromptTokens + model.maxCompletionTokens is ${promptTokens + completionTokens}; the worker's context has ${info.maxContext} tokens`,
    { remedy: 'Lower one of them, or take a model with a longer context.' },
  )
}
