import { join } from 'node:path'
import { stat } from 'node:fs/promises'
import { PipelineError } from '../../data/errors.ts'
import { checkpointSteps, findCheckpoint, readCheckpoint, type LoopState } from '../checkpoint.ts'
import type { RunDirectory } from '../run-directory.ts'
import type { AdapterRef } from '../sampler.ts'
import { readBest } from './best.ts'
import { adapterHash, adapterWeights } from './identity.ts'

/** Of a run's checkpoints: the newest, the one that its evaluations during training chose, or that after so many steps. */
export type CheckpointChoice = 'last' | 'best' | number

/** A checkpoint and the adapter that belongs to it; null at version 0. */
export interface Restorable {
  readonly state: LoopState
  readonly adapter: AdapterRef | null
}

/** Reads `last`, `best` or a number of steps. */
export const parseCheckpointChoice = (text: string): CheckpointChoice => {
  if (text === 'last' || text === 'best') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new PipelineError('usage', `--checkpoint: ${text} is neither best, nor last, nor a number of steps`)
}

/** The adapter that a checkpoint was made with: stored once, never changed. */
const storedAdapter = async (run: RunDirectory, directory: string, version: number): Promise<AdapterRef> => {
  const location = join(run.adapters, directory)
  const sha256 = await adapterHash(location)
  const { size: bytes } = await stat(join(location, adapterWeights))
  return { version, location, sha256, bytes }
}

const stepOfBest = async (run: RunDirectory): Promise<number> => {
  const best = await readBest(run)
  if (best !== null) return best.step
  throw new PipelineError('checkpoint', `run ${run.id} has no best checkpoint: it was not evaluated while it trained`, {
    remedy: 'Set evaluation.every for the next run; --checkpoint last takes the newest one.',
  })
}

const stateOf = async (run: RunDirectory, choice: CheckpointChoice): Promise<LoopState> => {
  if (choice === 'last') {
    const state = await findCheckpoint(run.checkpoints)
    if (state !== null) return state
    throw new PipelineError('checkpoint', `run ${run.id} has no checkpoint yet`, {
      remedy: 'Let it train up to its first one.',
    })
  }
  const step = choice === 'best' ? await stepOfBest(run) : choice
  const state = await readCheckpoint(run.checkpoints, step)
  if (state !== null) return state
  const kept = await checkpointSteps(run.checkpoints)
  throw new PipelineError('checkpoint', `run ${run.id} has no checkpoint after ${step} steps`, {
    remedy:
      kept.length === 0
        ? 'Let it train up to its first one.'
        : `It has those after ${kept.join(', ')} steps; run.keepCheckpoints says how many are kept.`,
  })
}

/** Finds a checkpoint and the weights of its adapter. Throws a PipelineError that says what there is instead. */
export const chooseCheckpoint = async (run: RunDirectory, choice: CheckpointChoice): Promise<Restorable> => {
  const state = await stateOf(run, choice)
  const { adapter, policyVersion } = state
  return { state, adapter: adapter === null ? null : await storedAdapter(run, adapter, policyVersion) }
}
