import { mkdir, readdir } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { readJsonFile, type Damage } from '../data/store/json-file.ts'
import { namesIn } from '../data/store/folders.ts'
import { PipelineError } from '../data/errors.ts'
import type { Prompt } from '../data/records/prompt.ts'
import { RunAttempt, RunMeta, RunStatus, type RunEvent } from '../data/records/run.ts'
import { writeFileAtomic, writeFileWhole, writeJsonAtomic } from '../data/store/atomic.ts'
import { appendJsonl, jsonLines, readRecords } from '../data/store/jsonl.ts'
import { makeDirectory, storing } from '../data/store/storage.ts'

const padded = (step: number): string => String(step).padStart(6, '0')

/** The layout of a run: every path below its directory has its name here. */
export class RunDirectory {
  readonly id: string
  readonly root: string

  constructor(runsDir: string, id: string) {
    this.id = id
    this.root = resolve(runsDir, id)
  }

  at(...parts: string[]): string {
    return join(this.root, ...parts)
  }
  get config(): string {
    return this.at('config.yaml')
  }
  get resolvedConfig(): string {
    return this.at('config.resolved.json')
  }
  get pool(): string {
    return this.at('pool.jsonl')
  }
  /** Held by the process that trains or evaluates the run. */
  get lock(): string {
    return this.at('lock.json')
  }
  /** One file for each process that was started for the run and has not ended. */
  get processes(): string {
    return this.at('processes')
  }
  get metrics(): string {
    return this.at('metrics.jsonl')
  }
  get adapters(): string {
    return this.at('adapters')
  }
  get checkpoints(): string {
    return this.at('checkpoints')
  }
  rollouts(step: number): string {
    return this.at('rollouts', `step-${padded(step)}.jsonl`)
  }
  update(step: number): string {
    return this.at('updates', `step-${padded(step)}.json`)
  }
  evaluation(name: string): string {
    return this.at('eval', name)
  }
  log(name: string): string {
    return this.at('logs', `${name}.log`)
  }
  /** A path as it is written into records: relative, so that a run can be moved. */
  inside(path: string): string {
    return relative(this.root, path)
  }

  readMeta(): Promise<RunMeta | null> {
    return readJsonFile(this.at('meta.json'), RunMeta, damage)
  }
  writeMeta(meta: RunMeta): Promise<void> {
    return writeJsonAtomic(this.at('meta.json'), meta)
  }

  readStatus(): Promise<RunStatus | null> {
    return readJsonFile(this.at('status.json'), RunStatus, damage)
  }
  /** Temporary file and rename, without waiting for the disk: a status that a power cut takes back is no loss. */
  writeStatus(status: RunStatus): Promise<void> {
    return writeFileWhole(this.at('status.json'), `${JSON.stringify(status, null, 2)}\n`)
  }

  appendEvent(event: RunEvent): Promise<void> {
    return appendJsonl(this.at('events.jsonl'), [event])
  }
  appendAttempt(attempt: RunAttempt): Promise<void> {
    return appendJsonl(this.at('attempts.jsonl'), [attempt], { sync: true })
  }
  async readAttempts(): Promise<RunAttempt[]> {
    const attempts: RunAttempt[] = []
    try {
      for await (const attempt of readRecords(this.at('attempts.jsonl'), RunAttempt, damage)) attempts.push(attempt)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    return attempts
  }

  /** Writes what a run is made from: the config as given, the prompts, and the resolved config, which says that all is there. */
  async writeSources(sources: RunSources): Promise<void> {
    if (sources.configText !== null) await writeFileAtomic(this.config, sources.configText)
    await writeFileAtomic(this.pool, jsonLines(sources.pool))
    await writeJsonAtomic(this.resolvedConfig, { values: sources.values, provenance: sources.provenance })
  }
}

export interface RunSources {
  /** The config file as given; null when there was none. */
  readonly configText: string | null
  readonly values: unknown
  /** Where each value came from. */
  readonly provenance: unknown
  readonly pool: readonly Prompt[]
}

/** Records are written whole or not at all. */
const damage: Damage = { boundary: 'checkpoint', remedy: 'Restore it from a copy of the run, or start a new run.' }

/** What a start may leave behind that died before its sources were written. Nothing can be continued from it. */
const unborn = /^(lock\.json.*|config\.yaml|pool\.jsonl|\..*\.tmp)$/

const isUnborn = async (directory: RunDirectory): Promise<boolean> =>
  (await readdir(directory.root)).every((name) => unborn.test(name))

/** Makes the directory of a new run. A run of that id must not exist; the remains of a start that died at once are taken over. */
export const createRunDirectory = async (runsDir: string, id: string): Promise<RunDirectory> => {
  const directory = new RunDirectory(runsDir, id)
  try {
    await makeDirectory(resolve(runsDir))
    await storing(directory.root, () => mkdir(directory.root))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (await isUnborn(directory)) return directory
    throw new PipelineError('config', `run ${id} exists already: ${directory.root}`, {
      remedy: `Continue it with --resume ${id}, or choose another run.id.`,
      cause: error,
    })
  }
  return directory
}

/** `<config>-<date>-<n>`: the first n that no run of that day has. */
export const nextRunId = async (runsDir: string, configName: string, now: Date): Promise<string> => {
  const stem = `${configName.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9._-]+/g, '-')}-${now.toISOString().slice(0, 10)}`
  const taken = new Set(await namesIn(resolve(runsDir)))
  for (let n = 1; ; n++) if (!taken.has(`${stem}-${n}`)) return `${stem}-${n}`
}

/** Opens an existing run. */
export const openRunDirectory = async (runsDir: string, id: string): Promise<RunDirectory> => {
  const directory = new RunDirectory(runsDir, id)
  if ((await readdir(directory.root).catch(() => null)) !== null) return directory
  const known = (await readdir(resolve(runsDir)).catch((): string[] => []))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .slice(-5)
  throw new PipelineError('checkpoint', `there is no run ${id} in ${resolve(runsDir)}`, {
    remedy: known.length === 0 ? 'Start a run first.' : `The newest runs there: ${known.join(', ')}.`,
  })
}
