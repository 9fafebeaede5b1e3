import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { resolveConfig, type Resolved } from '../configs/resolve.ts'
import { Config } from '../configs/schema.ts'
import { PipelineError } from '../data/errors.ts'
import { writeJsonAtomic } from '../data/store/atomic.ts'
import { RunDirectory } from '../trainer/run-directory.ts'
import { newestOpenRun } from './run-list.ts'

const Stored = z.object({ values: z.unknown(), provenance: z.record(z.string(), z.string()) })

/** Reads config.resolved.json. A damaged one is no fault of the program: config.yaml still has what was given. */
const readStored = async (file: string): Promise<z.infer<typeof Stored>> => {
  try {
    return Stored.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    throw new PipelineError('checkpoint', `${file} is damaged: ${error.message.split('\n', 1)[0]}`, {
      remedy: 'Restore it from a copy of the run, or start a new run with its config.yaml.',
      cause: error,
    })
  }
}

/** A run that a user named: an id below the runs directory, or a path. */
export const findRun = async (name: string, runsDir: string, cwd: string): Promise<RunDirectory> => {
  const isPath = isAbsolute(name) || basename(name) !== name
  const folder = isPath ? dirname(resolve(cwd, name)) : resolve(cwd, runsDir)
  const run = new RunDirectory(folder, basename(name))
  // Without a name the path would be the runs directory itself.
  if (name !== '' && existsSync(run.resolvedConfig)) return run
  throw new PipelineError('usage', `there is no run ${name} in ${folder}`, { remedy: 'drift-grpo runs lists them.' })
}

/**
 * The run to continue when none is named: the newest that is not finished and that no process is at work on. `say` is told
 * which one that is, and which newer ones were passed over.
 */
export const findNewestRun = async (
  runsDir: string,
  cwd: string,
  say: (text: string) => void,
): Promise<RunDirectory> => {
  const folder = resolve(cwd, runsDir)
  const { run, passedOver } = await newestOpenRun(folder)
  const others = passedOver.length === 0 ? '' : `; passed over: ${passedOver.join(', ')}`
  if (run === undefined) {
    throw new PipelineError('usage', `there is no run in ${folder} that could be continued${others}`, {
      remedy: 'drift-grpo runs lists them; name one: --resume ID.',
    })
  }
  say(`continuing ${run.id}, the newest run that is neither finished nor in use${others}`)
  return new RunDirectory(folder, run.id)
}

/**
 * The config that a run was started with, checked again, with overrides on top. `run.dir` and `run.id` are where the run
 * is now: it may have been moved.
 */
export const loadRunConfig = async (run: RunDirectory, sets: readonly string[]): Promise<Resolved<Config>> => {
  const stored = await readStored(run.resolvedConfig)
  // JSON is YAML: one checker serves both, and a run of an older version is refused with places and reasons.
  const text = JSON.stringify(stored.values, null, 2)
  const here = [`run.dir=${JSON.stringify(dirname(run.root))}`, `run.id=${JSON.stringify(run.id)}`]
  const { config, provenance } = resolveConfig(Config, { name: join(run.id, 'config.resolved.json'), text }, [
    ...sets,
    ...here,
  ])
  const given = Object.fromEntries(
    sets.map(keyOf).flatMap((key) => (key in provenance ? [[key, provenance[key]!]] : [])),
  )
  return { config, provenance: { ...provenance, ...stored.provenance, ...given } }
}

const keyOf = (set: string): string => set.split('=', 1)[0]!.trim()

/** What may change between two attempts of a run: how long and where it computes, never what a step computes. */
const changeable = [
  'run.steps',
  'run.checkpointEvery',
  'run.keepCheckpoints',
  'run.keepSteps',
  'sampling.concurrency',
  'sampling.requestTimeoutSeconds',
  'sampling.server',
  'worker',
  'evaluation',
  'exports',
]

/** Throws a usage error for overrides that would make the steps of a continued run differ from those before. */
export const requireChangeable = (sets: readonly string[]): void => {
  const fixed = sets.map(keyOf).filter((key) => !changeable.some((name) => key === name || key.startsWith(`${name}.`)))
  if (fixed.length === 0) return
  throw new PipelineError('usage', `--set ${fixed.join(', ')}: a run that is continued keeps its values`, {
    remedy: `These may change: ${changeable.join(', ')}. For anything else start a new run.`,
  })
}

/** Keeps accepted overrides with the run, so that the next attempt has them too. */
export const storeRunConfig = (run: RunDirectory, { config, provenance }: Resolved<Config>): Promise<void> =>
  writeJsonAtomic(run.resolvedConfig, { values: config, provenance })
