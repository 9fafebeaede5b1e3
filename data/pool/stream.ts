import type { Prompt, Split } from '../records/prompt.ts'
import { hashText } from '../world/random.ts'
import { buildSplit } from './build.ts'
import type { BuildOptions, TrajectorySource } from './build.ts'

export interface StreamOptions extends Pick<BuildOptions, 'seed' | 'examples' | 'mistakeShare' | 'hideShare'> {
  readonly split: Split
  /** Prompts that are balanced together. */
  readonly block: number
}

/**
 * An endless stream of balanced prompts, made block by block: material for pre-training. Equal options give an equal
 * stream. A prompt that comes up twice is given once; ids of the whole stream are remembered (16 bytes each).
 */
export function* promptStream(source: TrajectorySource, options: StreamOptions): Generator<Prompt, never> {
  const taken = new Set<string>()
  for (let block = 0; ; block++) {
    const seed = hashText(`${options.seed}/block/${block}`)
    yield* buildSplit(source, options.split, options.block, { ...options, seed }, taken).prompts
  }
}
