import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { resolveConfig, type Resolved } from '../configs/resolve.ts'
import { Config } from '../configs/schema.ts'
import { PipelineError } from '../data/errors.ts'
import { writeJsonAtomic } from '../data/store/atomic.ts'
import { RunDirectory } from '../trainer/run-directory.ts'
import { listRuns } from './run-list.ts'

const Stored = z.object({ values: z.unknown(), provenance: z.record(z.string(), z.string()) })

/** A run that a user named: an id below the runs directory, a path, or nothing for the newest that can go on. */
export const findRun = async (name: string, runsDir: string, cwd: string): Promise<RunDirectory> => {
  if (name !== '') {
    const isPath = isAbsolute(name) || basename(name) !== name
    const folder = isPath ? dirname(resolve(cwd, name)) : resolve(cwd, runsDir)
    const run = new RunDirectory(folder, basename(name))
    if (existsSync(run.resolvedConfig)) return run
    throw new PipelineError('usage', `there is no run ${name} in ${folder}`, { remedy: 'drift-grpo runs lists them.' })
  }
  const folder = resolve(cwd, runsDir)
  const latest = (await listRuns(folder)).find(({ state }) => state !== 'finished' && state !== 'running')
  if (latest !== undefined) return new RunDirectory(folder, latest.id)
  throw new PipelineError('usage', `there is no run in ${folder} that could be continued`, {
    remedy: 'drift-grpo runs lists them; name one: --resume ID.',
  })
}

/**
 * The config that a run was started with, checked again, with overrides on top. `run.dir` and `run.id` are where the run
 * is now: it may have been moved.
 */
export const loadRunConfig = async (run: RunDirectory, sets: readonly string[]): Promise<Resolved<Config>> => {
  const stored = Stored.parse(JSON.parse(await readFile(run.resolvedConfig, 'utf8')))
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
  'sampling.concurrency',
  'sampling.requestTimeoutSeconds',
  'sampling.server',
  'worker',
  'evaluation',
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
