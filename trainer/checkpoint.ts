import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../data/errors.ts'
import { writeJsonAtomic } from '../data/store/atomic.ts'
import { namesIn } from '../data/store/folders.ts'
import { makeDirectory } from '../data/store/storage.ts'
import type { Learner } from './learner.ts'

/** Everything that the loop itself carries from step to step. The prompts of a step follow from the seed and the step. */
export const LoopState = z.strictObject({
  runId: z.string(),
  nextStep: z.int().min(0),
  policyVersion: z.int().min(0),
  /** Name that the sampler knows the version by, and its directory under adapters/; null at version 0. */
  policyName: z.string(),
  adapter: z.string().nullable(),
  /** Completion tokens sampled so far. */
  totalTokens: z.int().min(0),
})
export type LoopState = z.infer<typeof LoopState>

const directoryOf = (nextStep: number): string => `step-${String(nextStep).padStart(6, '0')}`
const pattern = /^step-\d{6,}$/

/** Where the worker's half of a checkpoint lies, below checkpoints/. */
export const workerState = (state: Pick<LoopState, 'nextStep'>): string => `${directoryOf(state.nextStep)}/worker`

/** The newest first. */
const names = async (checkpointsDir: string): Promise<string[]> =>
  (await namesIn(checkpointsDir))
    .filter((name) => pattern.test(name))
    .toSorted((a, b) => Number(b.slice(5)) - Number(a.slice(5)))

const isTorn = (error: unknown): boolean =>
  error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT'

/** Null where a process died before the checkpoint was whole. Whatever else is wrong with it is an error: going back to an older one would delete it. */
const readLoop = async (directory: string): Promise<LoopState | null> => {
  const path = join(directory, 'loop.json')
  try {
    return LoopState.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (isTorn(error)) return null
    throw new PipelineError('checkpoint', `cannot read the checkpoint ${path}: ${(error as Error).message}`, {
      remedy: 'Repair it, or remove its directory to continue from the checkpoint before it.',
      cause: error,
    })
  }
}

/**
 * The newest complete checkpoint, or null. loop.json is written last and whole: a directory without a readable one is the
 * remains of a process that died, and is passed over.
 */
export const findCheckpoint = async (checkpointsDir: string): Promise<LoopState | null> => {
  for (const name of await names(checkpointsDir)) {
    const state = await readLoop(join(checkpointsDir, name))
    if (state !== null) return state
  }
  return null
}

/** The complete checkpoint after so many steps, or null. */
export const readCheckpoint = async (checkpointsDir: string, nextStep: number): Promise<LoopState | null> =>
  await readLoop(join(checkpointsDir, directoryOf(nextStep)))

/** Steps that have a complete checkpoint, the newest first. */
export const checkpointSteps = async (checkpointsDir: string): Promise<number[]> => {
  const states = await Promise.all((await names(checkpointsDir)).map((name) => readLoop(join(checkpointsDir, name))))
  return states.flatMap((state) => (state === null ? [] : [state.nextStep]))
}

/** Adapters that a kept checkpoint names: directories under adapters/. */
export const checkpointAdapters = async (checkpointsDir: string): Promise<string[]> => {
  const states = await Promise.all((await names(checkpointsDir)).map((name) => readLoop(join(checkpointsDir, name))))
  return states.flatMap((state) => state?.adapter ?? [])
}

/** What says that a checkpoint is whole goes first: a process that dies in between leaves none that looks whole. */
const dropCheckpoint = async (directory: string): Promise<void> => {
  await rm(join(directory, 'loop.json'), { force: true })
  await rm(directory, { recursive: true, force: true })
}

/**
 * Saves worker and loop at the border of two steps, then removes all but the newest `keep` checkpoints and that of
 * `alsoStep`. False when this border has its checkpoint already: then nothing was done.
 */
export const saveCheckpoint = async (
  checkpointsDir: string,
  learner: Learner,
  state: LoopState,
  keep: number,
  alsoStep: number | null = null,
): Promise<boolean> => {
  const directory = join(checkpointsDir, directoryOf(state.nextStep))
  if ((await readLoop(directory)) !== null) return false
  await rm(directory, { recursive: true, force: true })
  await makeDirectory(directory)
  await learner.saveState(workerState(state))
  await writeJsonAtomic(join(directory, 'loop.json'), state)
  const old = (await names(checkpointsDir)).slice(keep)
  for (const name of old.filter((one) => alsoStep === null || one !== directoryOf(alsoStep)))
    await dropCheckpoint(join(checkpointsDir, name))
  return true
}

/** Removes what lies after the checkpoint that a run resumes from: the steps are made again. */
export const dropLaterCheckpoints = async (checkpointsDir: string, nextStep: number): Promise<void> => {
  for (const name of await names(checkpointsDir)) {
    if (Number(name.slice(5)) > nextStep) await dropCheckpoint(join(checkpointsDir, name))
  }
}
