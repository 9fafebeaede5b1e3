import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { halfFiles, tracesOf } from '../support/run-traces.ts'
import { shortPool, shortPrompt, temporaryDirectory } from '../support/tiny-training.ts'
import { Chain, rootOf, type Kill, type Victim, type Workplace } from './chain.ts'
import type { Point } from './points.ts'

/** One victim, one point after the other. */
export const killing = (victim: Victim, points: readonly Point[]): Kill[] => points.map((point) => ({ victim, point }))

/** A pool of prompts that fit any context. */
export const writePool = (): string => {
  const pool = join(temporaryDirectory(), 'pool.jsonl')
  const heldout = [0, 1, 2, 3].map((i) => shortPrompt(i, 'heldout', `tell ${i}`))
  // The reader of a pool makes ids and origins.
  const lines = [...shortPool(8, 0), ...heldout].map(
    (prompt) => `${JSON.stringify({ ...prompt, id: undefined, origin: undefined })}\n`,
  )
  writeFileSync(pool, lines.join(''))
  return pool
}

export interface Outcome {
  readonly traces: unknown
  /** How often the orchestrator was started. */
  readonly starts: number
}

/** Trains to the end through deaths; looks for files that could be read half after each end. */
export const trainThrough = async (place: Workplace, kills: readonly Kill[]): Promise<Outcome> => {
  const root = rootOf(place)
  const chain = new Chain(place, async () => expect(halfFiles(root)).toEqual([]))
  await chain.run(kills)
  expect(halfFiles(root)).toEqual([])
  return { traces: tracesOf(root), starts: chain.starts }
}
