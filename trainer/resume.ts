import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PipelineError } from '../data/errors.ts'
import type { RunMeta } from '../data/records/run.ts'
import { writeFileAtomic } from '../data/store/atomic.ts'
import { namesIn } from '../data/store/folders.ts'
import { readJsonl } from '../data/store/jsonl.ts'
import { dropLaterCheckpoints, findCheckpoint, type LoopState } from './checkpoint.ts'
import { versionOf } from './retention.ts'
import type { RunDirectory } from './run-directory.ts'

/** Where an attempt begins. */
export interface StartingPoint {
  readonly attempt: number
  /** Null: from the very beginning. */
  readonly checkpoint: LoopState | null
}

/** The number of the next attempt and the checkpoint that it continues from. Changes nothing. */
export const findStartingPoint = async (run: RunDirectory): Promise<StartingPoint> => {
  const attempts = await run.readAttempts()
  const last = attempts.reduce((highest, { attempt }) => Math.max(highest, attempt), 0)
  return { attempt: last + 1, checkpoint: await findCheckpoint(run.checkpoints) }
}

/** The parts of a run that decide what its steps compute. */
export type Identity = Pick<RunMeta, 'seed' | 'judge'> & { readonly modelHash: string; readonly poolHash: string }

/** Throws a PipelineError that names what changed since the run was started, of what is known now. */
export const requireSame = (meta: RunMeta, now: Partial<Identity>): void => {
  const before: Identity = { seed: meta.seed, judge: meta.judge, modelHash: meta.model.hash, poolHash: meta.pool.hash }
  const names: Record<keyof Identity, string> = {
    seed: 'run.seed',
    judge: 'the judge',
    modelHash: 'the base model',
    poolHash: 'the pool',
  }
  const changed = (Object.keys(names) as (keyof Identity)[]).filter(
    (key) => now[key] !== undefined && before[key] !== now[key],
  )
  if (changed.length === 0) return
  const list = changed.map((key) => `${names[key]} (${String(before[key])} then, ${String(now[key])} now)`).join(', ')
  throw new PipelineError('checkpoint', `run ${meta.id} cannot be continued: changed since it was started: ${list}`, {
    remedy: 'Restore them, or start a new run.',
  })
}

const lineStep = (record: unknown): number =>
  typeof record === 'object' && record !== null && 'step' in record && typeof record.step === 'number'
    ? record.step
    : -1

/** Leaves the lines of completed steps only, in one rename: the steps after them are made again. */
const cutMetrics = async (path: string, nextStep: number): Promise<void> => {
  const kept: string[] = []
  try {
    for await (const record of readJsonl(path)) {
      const step = lineStep(record)
      if (step >= 0 && step < nextStep) kept.push(`${JSON.stringify(record)}\n`)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await writeFileAtomic(path, kept)
}

const isTemporary = (name: string): boolean => /^\..*\.tmp$/.test(name)

/** Removes `step-NNNNNN.*` files from a step on, and what a process that died left of one. */
const dropSteps = async (directory: string, nextStep: number): Promise<void> => {
  for (const name of await namesIn(directory)) {
    const step = /^step-(\d+)\./.exec(name)?.[1]
    if (isTemporary(name) || (step !== undefined && Number(step) >= nextStep))
      await rm(join(directory, name), { force: true })
  }
}

/** Removes adapters of versions that the continued run will make anew, and half-written ones. Whatever else lies there is somebody's. */
const dropAdapters = async (directory: string, version: number): Promise<void> => {
  for (const name of await namesIn(directory)) {
    const own = versionOf(name)
    const gone = own === null ? isTemporary(name) : own > version
    if (gone) await rm(join(directory, name), { recursive: true, force: true })
  }
}

/**
 * Takes a run directory back to the border before `nextStep`: later metrics lines, rollouts, updates, adapters and torn
 * checkpoints go. Running it twice changes nothing more. No sampler may know the removed adapters any longer.
 */
export const rewind = async (run: RunDirectory, checkpoint: LoopState | null): Promise<void> => {
  const nextStep = checkpoint?.nextStep ?? 0
  await cutMetrics(run.metrics, nextStep)
  await dropSteps(run.at('rollouts'), nextStep)
  await dropSteps(run.at('updates'), nextStep)
  await dropAdapters(run.adapters, checkpoint?.policyVersion ?? 0)
  await dropLaterCheckpoints(run.checkpoints, nextStep)
}
