import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'
import { PipelineError } from '../data/errors.ts'
import { storing } from '../data/store/storage.ts'

const Holder = z.strictObject({ pid: z.int(), startedAt: z.string(), host: z.string() })
/** Who holds a lock. */
export type Holder = z.infer<typeof Holder>

/**
 * When a process started, in whatever form the system has: together with the pid it names one process for good, where
 * the pid alone may have been given to another. Undefined: there is no such process, or it has ended and only waits for its
 * parent to notice.
 */
export const processStart = (pid: number): string | undefined => {
  try {
    if (process.platform !== 'linux') {
      const [state, ...start] = execFileSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
      })
        .trim()
        .split(/\s+/)
      return state?.startsWith('Z') === true ? undefined : start.join(' ')
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command may hold spaces and parentheses: fields are counted from after the last one. Field 3 is the state, 22 the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

const readHolder = async (path: string): Promise<Holder | undefined> => {
  try {
    return Holder.safeParse(JSON.parse(await readFile(path, 'utf8'))).data
  } catch {
    return undefined
  }
}

const isAlive = (holder: Holder): boolean => holder.host !== hostname() || processStart(holder.pid) === holder.startedAt

/**
 * The process that holds a lock now. Undefined when nobody does, or the one who did is gone: its pid is free, or was given
 * to another. A holder on another machine cannot be asked and counts as alive.
 */
export const lockHolder = async (path: string): Promise<Holder | undefined> => {
  const holder = await readHolder(path)
  return holder !== undefined && isAlive(holder) ? holder : undefined
}

/** Makes the lock with its content in one go (a hard link fails where the name exists): nobody can see it empty. */
const create = async (path: string): Promise<boolean> => {
  const holder: Holder = { pid: process.pid, startedAt: processStart(process.pid) ?? '', host: hostname() }
  const own = `${path}.${randomBytes(4).toString('hex')}`
  try {
    await storing(path, async () => {
      await writeFile(own, `${JSON.stringify(holder)}\n`)
      await link(own, path)
    })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(own, { force: true })
  }
}

/** Where nothing can be removed any more the lock stays: it holds nobody up once this process has ended. */
const release = (path: string): Promise<void> => rm(path, { force: true }).catch(() => undefined)

const inUse = ({ pid, host }: Holder, path: string): PipelineError =>
  new PipelineError('checkpoint', `the run is in use by process ${pid} on ${host}`, {
    remedy: `Wait for it, or stop it. If it no longer exists, remove ${path}.`,
  })

/** What was moved away was no stale lock any more: another taker had put its own there in the meantime. */
const putBack = async (moved: string, path: string): Promise<void> => {
  await link(moved, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/**
 * Takes a lock file for this process; gives the function that releases it. A lock whose process is gone is taken over.
 * Throws a PipelineError when a live process holds it.
 */
export const acquireLock = async (path: string): Promise<() => Promise<void>> => {
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await create(path)) return () => release(path)
    const holder = await lockHolder(path)
    if (holder !== undefined) throw inUse(holder, path)
    // Moved away under a name of its own, so that of two takers only one can have moved it.
    const stale = `${path}.${randomBytes(4).toString('hex')}.stale`
    await rename(path, stale).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    const faster = await lockHolder(stale)
    if (faster !== undefined) await putBack(stale, path)
    await rm(stale, { force: true })
    if (faster !== undefined) throw inUse(faster, path)
  }
  throw new PipelineError('checkpoint', `could not take the lock ${path}: other processes keep taking it`)
}
