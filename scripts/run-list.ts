import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../data/errors.ts'
import { StepMetrics } from '../data/records/metrics.ts'
import { EvaluationSummary, type RunStatus } from '../data/records/run.ts'
import { readJsonl } from '../data/store/jsonl.ts'
import { RunDirectory } from '../trainer/run-directory.ts'

/** What a list of runs shows of one. */
export interface RunSummary {
  readonly id: string
  /** `lost`: it says that it runs, but its process is gone. */
  readonly state: RunStatus['state'] | 'lost'
  readonly step: number
  readonly steps: number
  readonly policyVersion: number
  /** Mean reward of the first and of the last step; null before there is one. */
  readonly firstReward: number | null
  readonly lastReward: number | null
  readonly updatedAt: string
  readonly message: string | null
}

const ended: ReadonlySet<string> = new Set(['finished', 'stopped', 'aborted', 'failed'])

/** Signal 0 asks whether a process exists. Another user's process exists too (EPERM). */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
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

/** Reads one run directory. Undefined when it holds no run. */
export const readRun = async (runsDir: string, id: string): Promise<RunSummary | undefined> => {
  const directory = new RunDirectory(runsDir, id)
  const status = await directory.readStatus()
  if (status === null) return undefined
  const { state, pid, step, steps, policyVersion, updatedAt, message } = status
  return {
    id,
    state: ended.has(state) || isAlive(pid) ? state : 'lost',
    ...{ step, steps, policyVersion, updatedAt, message },
    ...(await rewardsOf(directory.metrics)),
  }
}

const readEvaluation = async (file: string): Promise<EvaluationSummary> => {
  const result = EvaluationSummary.safeParse(JSON.parse(await readFile(file, 'utf8')))
  if (result.success) return result.data
  throw new PipelineError('checkpoint', `${file} is not what this version writes:\n${z.prettifyError(result.error)}`)
}

/** All runs below a directory, the latest first. A directory that does not exist holds none. */
export const listRuns = async (runsDir: string): Promise<RunSummary[]> => {
  if (!existsSync(runsDir)) return []
  const folders = (await readdir(runsDir, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const runs = await Promise.all(folders.map(({ name }) => readRun(runsDir, name)))
  return runs.filter((run) => run !== undefined).toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
}

/** Every evaluation of a run, by name. */
export const readEvaluations = async (directory: string): Promise<EvaluationSummary[]> => {
  const folder = join(directory, 'eval')
  if (!existsSync(folder)) return []
  const files = (await readdir(folder)).toSorted().map((name) => join(folder, name, 'summary.json'))
  return Promise.all(files.filter((file) => existsSync(file)).map((file) => readEvaluation(file)))
}
