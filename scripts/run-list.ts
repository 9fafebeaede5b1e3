import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { StepMetrics } from '../data/records/metrics.ts'
import { EvaluationSummary, type RunStatus } from '../data/records/run.ts'
import { foldersOf } from '../data/store/folders.ts'
import { readJsonFile } from '../data/store/json-file.ts'
import { readJsonl } from '../data/store/jsonl.ts'
import { lockHolder } from '../trainer/lock.ts'
import { RunDirectory } from '../trainer/run-directory.ts'
import { liveState } from '../trainer/supervision/run-state.ts'

/** What a list of runs shows of one. */
export interface RunSummary {
  readonly id: string
  /** `lost`: it says that it runs, but its process is gone. `unreadable`: `message` says why. */
  readonly state: RunStatus['state'] | 'lost' | 'unreadable'
  /** The process that holds it now, to train or to evaluate it; null when it is free. */
  readonly heldBy: { readonly pid: number; readonly host: string } | null
  readonly step: number
  readonly steps: number
  readonly policyVersion: number
  /** Mean reward of the first and of the last step; null before there is one. */
  readonly firstReward: number | null
  readonly lastReward: number | null
  readonly updatedAt: string
  readonly message: string | null
}

const Reward = z.number().nullable().catch(null)

const rewardsOf = async (metricsFile: string): Promise<Pick<RunSummary, 'firstReward' | 'lastReward'>> => {
  if (!existsSync(metricsFile)) return { firstReward: null, lastReward: null }
  const byStep = new Map<number, number | null>()
  for await (const line of readJsonl(metricsFile)) {
    const metrics = StepMetrics.parse(line)
    byStep.set(metrics.step, Reward.parse(metrics['reward']))
  }
  const steps = [...byStep.keys()].toSorted((a, b) => a - b)
  const at = (index: number): number | null => byStep.get(steps.at(index) ?? -1) ?? null
  return { firstReward: at(0), lastReward: at(-1) }
}

const readSummary = async (directory: RunDirectory): Promise<RunSummary | undefined> => {
  const first = await directory.readStatus()
  if (first === null) return undefined
  const holder = await lockHolder(directory.lock)
  // A run says how it ended before it is given free: asked again, one that ended just now is not taken for lost.
  const status = holder === undefined ? ((await directory.readStatus()) ?? first) : first
  const { step, steps, policyVersion, updatedAt, message } = status
  return {
    id: directory.id,
    state: liveState(status, holder),
    heldBy: holder === undefined ? null : { pid: holder.pid, host: holder.host },
    ...{ step, steps, policyVersion, updatedAt, message },
    ...(await rewardsOf(directory.metrics)),
  }
}

/** A run whose files say nothing that can be used; it is shown where its directory was last changed. */
const unreadable = async ({ id, root }: RunDirectory, error: unknown): Promise<RunSummary> => ({
  ...{ id, state: 'unreadable', heldBy: null, step: 0, steps: 0, policyVersion: 0 },
  ...{ firstReward: null, lastReward: null },
  updatedAt: (await stat(root)).mtime.toISOString(),
  message: error instanceof Error ? error.message : String(error),
})

/** Reads one run directory. Undefined when it holds no run. A damaged one is shown as such: it must not hide the others. */
export const readRun = async (runsDir: string, id: string): Promise<RunSummary | undefined> => {
  const directory = new RunDirectory(runsDir, id)
  try {
    return await readSummary(directory)
  } catch (error) {
    return await unreadable(directory, error)
  }
}

/** All runs below a directory, the latest first. A directory that does not exist holds none. */
export const listRuns = async (runsDir: string): Promise<RunSummary[]> => {
  const runs = await Promise.all((await foldersOf(runsDir)).map((id) => readRun(runsDir, id)))
  return runs.filter((run) => run !== undefined).toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
}

/** Why a run is not one to go on with unasked; null when it is. */
const obstacle = ({ state, heldBy, step, steps }: RunSummary): string | null => {
  if (heldBy !== null) return `in use by process ${heldBy.pid} on ${heldBy.host}`
  if (state === 'unreadable') return 'unreadable'
  return state === 'finished' ? `finished, ${step} of ${steps} steps` : null
}

export interface NewestRun {
  /** Undefined where no run can go on. */
  readonly run: RunSummary | undefined
  /** Newer runs that were passed over, and why. */
  readonly passedOver: readonly string[]
}

/** The newest run that can go on: not finished, and nobody is at work on it. */
export const newestOpenRun = async (runsDir: string): Promise<NewestRun> => {
  const runs = await listRuns(runsDir)
  const at = runs.findIndex((run) => obstacle(run) === null)
  const newer = at === -1 ? runs : runs.slice(0, at)
  return { run: runs[at], passedOver: newer.map((run) => `${run.id} (${obstacle(run)})`) }
}

/** Every finished evaluation of a run, by name. */
export const readEvaluations = async (directory: string): Promise<EvaluationSummary[]> => {
  const folder = join(directory, 'eval')
  const summaries = (await foldersOf(folder)).map((name) =>
    readJsonFile(join(folder, name, 'summary.json'), EvaluationSummary, {
      boundary: 'checkpoint',
      remedy: `Remove ${join(folder, name)}; drift-grpo eval makes another one.`,
    }),
  )
  return (await Promise.all(summaries)).filter((summary) => summary !== null)
}
