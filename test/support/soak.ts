import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startStub, trainStub } from './stub-training.ts'

/** What a long run holds at one moment. */
export interface Holding {
  readonly step: number
  /** Live objects after a full collection. */
  readonly heapBytes: number
  readonly rssBytes: number
  readonly descriptors: number
  /** Files of each part of the run directory, and their bytes without what grows by a line a step. */
  readonly files: Readonly<Record<string, number>>
  readonly boundedBytes: number
  /** metrics.jsonl and events.jsonl. */
  readonly logBytes: number
}

const parts = ['rollouts', 'updates', 'adapters', 'checkpoints'] as const

const collect = (): void => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  gc()
  gc()
}

const sizes = (directory: string): number[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => lstatSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? [])

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const look = (root: string, step: number): Holding => {
  collect()
  const { heapUsed, rss } = process.memoryUsage()
  const found = parts.map((part) => [part, sizes(join(root, part))] as const)
  return {
    ...{ step, heapBytes: heapUsed, rssBytes: rss, descriptors: readdirSync('/proc/self/fd').length },
    files: Object.fromEntries(found.map(([part, list]) => [part, list.length])),
    boundedBytes: sum(found.flatMap(([, list]) => list)),
    logBytes: sum(['metrics.jsonl', 'events.jsonl'].map((name) => lstatSync(join(root, name)).size)),
  }
}

/**
 * Trains a stub for so many steps through the trainer's own clients, loop, recorder and checkpoints, and looks at each
 * quarter, right after a checkpoint, at what the trainer holds.
 */
export const soak = async (runs: string, steps: number): Promise<readonly Holding[]> => {
  const stub = await startStub()
  const seen: Holding[] = []
  const root = join(runs, 'stub')
  try {
    await trainStub({
      ...{ runs, steps, workerUrl: stub.url, samplerUrl: stub.url, config: { run: { keepSteps: 40 } } },
      onStep: ({ nextStep }) => {
        // The step after a border: its checkpoint is made, and what is older is gone.
        if ((nextStep - 1) % (steps / 4) === 0 && nextStep > 1) seen.push(look(root, nextStep - 1))
      },
    })
    return [...seen, look(root, steps)]
  } finally {
    await stub.close()
  }
}
