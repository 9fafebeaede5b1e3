import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { namesIn } from '../../data/store/folders.ts'
import { processStart } from '../lock.ts'
import { killGroup, killLeaderless } from './kill-group.ts'

const Identity = z.strictObject({ pid: z.int().min(2), startedAt: z.string().min(1) })

/** A process that was started as the leader of its own group, and who has to end it. */
const ChildRecord = z.strictObject({
  ...Identity.shape,
  what: z.string(),
  host: z.string(),
  owner: Identity,
})
type ChildRecord = z.infer<typeof ChildRecord>

/** A child that outlived the process that had to end it. */
export interface Orphan {
  readonly what: string
  readonly pid: number
  readonly startedAt: string
  /** Its record. */
  readonly file: string
}

const lives = ({ pid, startedAt }: z.infer<typeof Identity>): boolean => processStart(pid) === startedAt

/**
 * Records a child that was just spawned in a directory of such records, one file each. Not asynchronous, so that as little
 * as possible can happen between the two.
 * @returns removes the record, for when the child has ended
 */
export const recordChild = (directory: string, what: string, pid: number): (() => void) => {
  const startedAt = processStart(pid)
  // It has ended already, or it never started.
  if (startedAt === undefined) return () => undefined
  const owner = { pid: process.pid, startedAt: processStart(process.pid) ?? '' }
  const record: ChildRecord = { what, pid, startedAt, host: hostname(), owner }
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `${pid}.json`)
  writeFileSync(file, `${JSON.stringify(record)}\n`)
  return () => rmSync(file, { force: true })
}

const readRecord = async (file: string): Promise<ChildRecord | undefined> => {
  try {
    return ChildRecord.safeParse(JSON.parse(await readFile(file, 'utf8'))).data
  } catch (error) {
    // Half of a record names nobody; one that is gone was somebody else's business.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The children on record that live although their owners are gone. A process counts only when its id and its start are the
 * recorded ones: an id alone may have been given to somebody else. Records of what has ended are removed; those of other
 * machines stay.
 */
export const findOrphans = async (directory: string): Promise<Orphan[]> => {
  const orphans: Orphan[] = []
  for (const name of (await namesIn(directory)).filter((one) => one.endsWith('.json'))) {
    const file = join(directory, name)
    const record = await readRecord(file)
    if (record === undefined || record.host !== hostname() || lives(record.owner)) continue
    if (lives(record)) orphans.push({ what: record.what, pid: record.pid, startedAt: record.startedAt, file })
    else await rm(file, { force: true })
  }
  return orphans
}

const signalGroup = (orphan: Orphan, signal: NodeJS.Signals): void => {
  // Looked at once more: between two looks it may have ended, and its id been given away.
  if (lives(orphan)) killGroup(orphan.pid, signal)
}

/** How long a process may take to go that the system has been told to end. */
const killMs = 15_000

const unending = ({ what, pid }: Orphan): PipelineError =>
  new PipelineError('setup', `the ${what} (process ${pid}) that a killed run left behind does not end`, {
    remedy: `End it by hand (kill -9 ${pid}); if it waits for a driver, only a restart of the machine helps.`,
  })

export interface EndingOptions {
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number
  readonly pollMs?: number
}

/** Ends an orphan with its group: SIGTERM, and SIGKILL after the grace. Rejects when it cannot be ended. */
export const endOrphan = async (orphan: Orphan, options: EndingOptions = {}): Promise<void> => {
  const graceMs = options.graceMs ?? 10_000
  const started = performance.now()
  signalGroup(orphan, 'SIGTERM')
  while (lives(orphan)) {
    const waitedMs = performance.now() - started
    if (waitedMs > graceMs + killMs) throw unending(orphan)
    if (waitedMs > graceMs) signalGroup(orphan, 'SIGKILL')
    await wait(options.pollMs ?? 100)
  }
  // A child of its own that did not end with it would keep the GPU's memory.
  killLeaderless(orphan.pid)
  await rm(orphan.file, { force: true })
}

/** Ends what earlier owners of a directory left behind; gives one line for each. */
export const endOrphans = async (directory: string, options: EndingOptions = {}): Promise<string[]> => {
  const orphans = await findOrphans(directory)
  await Promise.all(orphans.map((orphan) => endOrphan(orphan, options)))
  return orphans.map(({ what, pid }) => `ended the ${what} (process ${pid}) that a killed run had left behind`)
}
