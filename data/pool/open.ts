import { resolve } from 'node:path'
import process from 'node:process'
import { PipelineError } from '../errors.ts'
import { fetchPool } from '../hub/pool.ts'
import { hubSettings } from '../hub/settings.ts'
import type { ExampleCount } from '../nodes/template.ts'
import type { Prompt } from '../records/prompt.ts'
import { generateTrajectories } from '../world/trajectories.ts'
import { buildPool, type TrajectorySource } from './build.ts'
import type { PoolConfig } from './config.ts'
import { readPool } from './pool-file.ts'
import { shortfalls } from './shortfall.ts'
import { assertDisjoint } from './split.ts'

export interface OpenPool {
  readonly train: readonly Prompt[]
  readonly heldout: readonly Prompt[]
  /** What people should know about it: how far it falls short of what the config asks for. */
  readonly warnings: readonly string[]
}

/** Where a pool is opened. Only a pool of the hub asks the network, and is told of. */
export interface PoolSurroundings {
  /** Relative paths start here. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((text: string) => void) | undefined
  readonly source?: TrajectorySource
}

const fromFile = async (path: string): Promise<Prompt[]> => {
  const prompts: Prompt[] = []
  for await (const prompt of readPool(path)) prompts.push(prompt)
  return prompts
}

const read = async (
  config: PoolConfig,
  examples: ExampleCount,
  { cwd = process.cwd(), env, signal, onProgress, source = generateTrajectories }: PoolSurroundings,
): Promise<{ prompts: readonly Prompt[]; warnings: string[] }> => {
  if (config.kind === 'file') return { prompts: await fromFile(resolve(cwd, config.path)), warnings: [] }
  if (config.kind === 'hub') {
    const { repo, revision } = config
    const file = await fetchPool({ repo, revision, settings: hubSettings(env), signal, onProgress })
    return { prompts: await fromFile(file), warnings: [] }
  }
  const { prompts, report } = buildPool(source, { ...config, examples })
  return { prompts, warnings: shortfalls(report) }
}

/**
 * The prompts that a config asks for: built from the simulated world, read from a file, or fetched from the hub. `examples` matters
 * only for prompts that are built here. Refuses a file with a task, payload or trajectory in both splits, or without training prompts.
 */
export const openPool = async (
  config: PoolConfig,
  examples: ExampleCount,
  surroundings: PoolSurroundings = {},
): Promise<OpenPool> => {
  const { prompts, warnings } = await read(config, examples, surroundings)
  assertDisjoint(prompts)
  const train = prompts.filter(({ split }) => split === 'train')
  if (train.length === 0)
    throw new PipelineError('pool', 'the pool has no training prompts', { remedy: 'Take another pool.' })
  return { train, heldout: prompts.filter(({ split }) => split === 'heldout'), warnings }
}
