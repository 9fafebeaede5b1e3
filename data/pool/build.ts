import { join } from 'node:path'
import { jsonLines } from '../store/jsonl.ts'
import { templateSet } from '../nodes/template.ts'
import type { ExampleCount } from '../nodes/template.ts'
import type { Prompt, Split } from '../records/prompt.ts'
import type { Trajectory } from '../records/trajectory.ts'
import { writeFileAtomic, writeJsonAtomic } from '../store/atomic.ts'
import { draftsOf } from './drafts.ts'
import type { DraftOptions } from './drafts.ts'
import { hashText } from '../world/random.ts'
import { DraftStock, perNode, select } from './select.ts'
import { assertDisjoint, splitTrajectories } from './split.ts'
import { Tally } from './tally.ts'
import type { PoolReport } from './tally.ts'

/** Makes trajectories of one split; equal requests give equal trajectories. */
export type TrajectorySource = (request: {
  readonly seed: number
  readonly count: number
  readonly split: Split
}) => Iterable<Trajectory>

export interface BuildOptions extends DraftOptions {
  /** Number of training prompts; null: as many as stay balanced (recordings only). */
  readonly train: number | null
  /** Number of held-out prompts, an equal part for each node. */
  readonly heldout: number
  readonly examples: ExampleCount
}

export interface Pool {
  readonly prompts: readonly Prompt[]
  readonly report: PoolReport
}

const splits = ['heldout', 'train'] as const

/** Trajectories that are read at a time: about as many as prompts, within bounds. */
const chunkSize = (total: number): number => Math.min(250, Math.max(25, total))
/** Chunks read without a full stock before the source counts as unable to give a class. */
const mostChunks = 400

const wantedOf = (options: BuildOptions, split: Split): number | null =>
  split === 'heldout' ? options.heldout : options.train

function* counted(trajectories: Iterable<Trajectory>, split: Split, tally: Tally): Generator<Trajectory> {
  for (const trajectory of trajectories) {
    tally.trajectory(split, trajectory.attack)
    yield trajectory
  }
}

const stockOf = (trajectories: Iterable<Trajectory>, split: Split, options: DraftOptions, tally: Tally): DraftStock => {
  const stock = new DraftStock()
  for (const draft of draftsOf(counted(trajectories, split, tally), options, tally.reject)) stock.add(draft)
  return stock
}

/** Reads a source chunk by chunk until every class of every node has its share. */
const fillStock = (
  source: TrajectorySource,
  split: Split,
  total: number,
  options: DraftOptions,
  tally: Tally,
): DraftStock => {
  const stock = new DraftStock()
  const goal = perNode(total)
  for (let chunk = 0; chunk < mostChunks && !stock.satisfies(goal); chunk++) {
    const seed = hashText(`${options.seed}/${split}/${chunk}`)
    const trajectories = source({ seed, count: chunkSize(total), split })
    for (const draft of draftsOf(counted(trajectories, split, tally), options, tally.reject)) stock.add(draft)
  }
  return stock
}

const finish = (stocks: Record<Split, DraftStock>, options: BuildOptions, tally: Tally): Pool => {
  const taken = new Set<string>()
  const { seed, examples } = options
  const prompts = splits.flatMap((split) =>
    select(stocks[split], { total: wantedOf(options, split), split, seed, examples, taken, tally }),
  )
  assertDisjoint(prompts)
  return { prompts, report: tally.report(seed, templateSet(examples).version) }
}

/** Balanced prompts of one split. Ids in `taken` are passed over; those of the result are added to it. */
export const buildSplit = (
  source: TrajectorySource,
  split: Split,
  total: number,
  options: DraftOptions & Pick<BuildOptions, 'examples'>,
  taken: Set<string>,
): Pool => {
  const tally = new Tally()
  const stock = fillStock(source, split, total, options, tally)
  const { seed, examples } = options
  const prompts = select(stock, { total, split, seed, examples, taken, tally })
  return { prompts, report: tally.report(seed, templateSet(examples).version) }
}

/**
 * Builds a balanced pool from an endless source such as the simulated world. The source keeps tasks and payloads of
 * the splits apart; the result is checked for it.
 */
export const buildPool = (source: TrajectorySource, options: BuildOptions & { readonly train: number }): Pool => {
  const tally = new Tally()
  const heldout = fillStock(source, 'heldout', options.heldout, options, tally)
  const train = fillStock(source, 'train', options.train, options, tally)
  return finish({ heldout, train }, options, tally)
}

/** Share of recorded trajectories that are held out. */
const heldoutShare = 0.04

/** Builds a balanced pool from a finite set of trajectories, such as recordings. */
export const buildPoolFrom = (trajectories: Iterable<Trajectory>, options: BuildOptions): Pool => {
  const tally = new Tally()
  const parts = splitTrajectories([...trajectories], { seed: options.seed, share: heldoutShare }, tally.reject)
  const stock = (split: Split): DraftStock => stockOf(parts[split], split, options, tally)
  return finish({ heldout: stock('heldout'), train: stock('train') }, options, tally)
}

/** Writes `pool.jsonl` and `report.json`, each whole or not at all. */
export const writePool = async (directory: string, pool: Pool): Promise<void> => {
  await writeFileAtomic(join(directory, 'pool.jsonl'), jsonLines(pool.prompts))
  await writeJsonAtomic(join(directory, 'report.json'), pool.report)
}
