import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { namesIn } from '../data/store/folders.ts'
import { checkpointAdapters, type LoopState } from './checkpoint.ts'
import type { RunDirectory } from './run-directory.ts'

/** Versions back from the newest whose adapters a sampler may still hold. */
const held = 3

/** The version in the name of an adapter's directory, `v000012` or `a2-v000012`; null for what is not the run's. */
export const versionOf = (name: string): number | null => {
  const version = /^(?:a\d+-)?v(\d{6,})$/.exec(name)?.[1]
  return version === undefined ? null : Number(version)
}

/** Removes adapters that no kept checkpoint names and no sampler holds, whatever attempt made them. */
const pruneAdapters = async (run: RunDirectory, newest: number): Promise<void> => {
  const named = new Set(await checkpointAdapters(run.checkpoints))
  for (const name of await namesIn(run.adapters)) {
    const version = versionOf(name)
    if (version !== null && version <= newest - held && !named.has(name))
      await rm(join(run.adapters, name), { recursive: true, force: true })
  }
}

const pruneSteps = async (directory: string, before: number): Promise<void> => {
  for (const name of await namesIn(directory)) {
    const step = /^step-(\d{6,})\./.exec(name)?.[1]
    if (step !== undefined && Number(step) < before) await rm(join(directory, name), { force: true })
  }
}

/**
 * Bounds what a run keeps, once a checkpoint was made: adapters go with the checkpoints that named them; of rollouts and
 * updates the newest `keepSteps` stay, all of them where it is null. Running it twice changes nothing more.
 */
export const prune = async (run: RunDirectory, state: LoopState, keepSteps: number | null): Promise<void> => {
  await pruneAdapters(run, state.policyVersion)
  if (keepSteps === null) return
  for (const directory of [run.at('rollouts'), run.at('updates')])
    await pruneSteps(directory, state.nextStep - keepSteps)
}
