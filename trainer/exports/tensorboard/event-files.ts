import { open, mkdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../../../data/store/atomic.ts'
import type { MetricsRow } from '../../dashboard/series.ts'
import type { RunDirectory } from '../../run-directory.ts'
import { rolloutRows } from '../run-rows.ts'
import { pointOf, type MetricPoint, type Sink } from '../sink.ts'
import { histogramsEvent, restartEvent, scalarsEvent, versionEvent } from './events.ts'

/** Readers take every file with this word in its name, in the order of the names. */
const fileName = (at: number, label: string): string =>
  `events.out.tfevents.${String(Math.floor(at / 1000)).padStart(10, '0')}.${label}`

/** Rewards of a step's completions, over all nodes and by node. */
const rewardsOf = async (run: RunDirectory, step: number): Promise<Record<string, number[]>> => {
  const lists: Record<string, number[]> = {}
  for await (const { node, reward } of rolloutRows(run, step, [])) {
    if (typeof reward !== 'number') continue
    for (const tag of ['rollouts/reward', `rollouts/reward/${String(node)}`]) (lists[tag] ??= []).push(reward)
  }
  return lists
}

/** Writes a whole run as one event file, under a name that is the same each time; returns it. */
export const exportTensorboard = async (
  run: RunDirectory,
  rows: readonly MetricsRow[],
  out: string,
): Promise<string[]> => {
  const points = rows.map(pointOf)
  const start = points[0]?.at ?? 0
  const records = [versionEvent(start)]
  for (const point of points) {
    records.push(scalarsEvent(point))
    const rewards = await rewardsOf(run, point.step)
    if (Object.keys(rewards).length > 0) records.push(histogramsEvent(point.at, point.step, rewards))
  }
  const name = fileName(start, run.id)
  await writeFileAtomic(join(out, name), Buffer.concat(records))
  return [name]
}

/** Appends to one event file of this attempt. A record that was written in part is written over when it comes again. */
class EventFile implements Sink {
  readonly name = 'tensorboard'
  readonly replays = false
  readonly #handle: FileHandle
  readonly #isRestart: boolean
  #length = 0

  constructor(handle: FileHandle, isRestart: boolean) {
    this.#handle = handle
    this.#isRestart = isRestart
  }

  async write(points: readonly MetricPoint[]): Promise<void> {
    const [first] = points
    if (first === undefined) return
    const head = this.#length > 0 ? [] : this.#header(first)
    const records = Buffer.concat([...head, ...points.map(scalarsEvent)])
    for (let done = 0; done < records.length;) {
      const { bytesWritten } = await this.#handle.write(records, done, records.length - done, this.#length + done)
      done += bytesWritten
    }
    this.#length += records.length
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  #header({ at, step }: MetricPoint): Buffer[] {
    return [versionEvent(at), ...(this.#isRestart ? [restartEvent(at, step)] : [])]
  }
}

/** Opens the event file of an attempt in the run's own directory. */
export const openEventFile = async (run: RunDirectory, attempt: number): Promise<Sink> => {
  const directory = run.at('tensorboard')
  await mkdir(directory, { recursive: true })
  const handle = await open(join(directory, fileName(Date.now(), `attempt-${attempt}`)), 'wx')
  return new EventFile(handle, attempt > 1)
}
