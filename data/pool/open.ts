import { PipelineError } from '../errors.ts'
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

const fromFile = async (path: string): Promise<Prompt[]> => {
  const prompts: Prompt[] = []
  for await (const prompt of readPool(path)) prompts.push(prompt)
  return prompts
}

const read = async (
  config: PoolConfig,
  examples: ExampleCount,
  source: TrajectorySource,
): Promise<{ prompts: readonly Prompt[]; warnings: string[] }> => {
  if (config.kind === 'file') return { prompts: await fromFile(config.path), warnings: [] }
  const { prompts, report } = buildPool(source, { ...config, examples })
  return { prompts, warnings: shortfalls(report) }
}

/**
 * The prompts that a config asks for: built from the simulated world, or read from a file. `examples` matters only for
 * prompts that are built here. Refuses a file with a task, payload or trajectory in both splits, or without training prompts.
 */
export const openPool = async (
  config: PoolConfig,
  examples: ExampleCount,
  source: TrajectorySource = generateTrajectories,
): Promise<OpenPool> => {
  const { prompts, warnings } = await read(config, examples, source)
  assertDisjoint(prompts)
  const train = prompts.filter(({ split }) => split === 'train')
  if (train.length === 0)
    throw new PipelineError('pool', 'the pool has no training prompts', { remedy: 'Set pool.path to another pool.' })
  return { train, heldout: prompts.filter(({ split }) => split === 'heldout'), warnings }
}
