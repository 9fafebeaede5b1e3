import { existsSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { dirname } from 'node:path'
import process from 'node:process'
import type { Config } from '../../configs/schema.ts'
import { findGpus } from '../../trainer/memory/gpu.ts'
import { gatherFacts } from '../plan/gather.ts'
import { gatherMemoryPlan } from '../plan/memory.ts'
import { makePlan } from '../plan/plan.ts'
import type { DoctorContext } from './check.ts'
import { endLeftBehind } from './left-behind.ts'

const freeDisk = async (directory: string): Promise<number> => {
  const existing = existsSync(directory) || dirname(directory) === directory ? directory : dirname(directory)
  if (existing !== directory) return await freeDisk(existing)
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Linux counts its file cache as used; what can be taken is in another line. */
const freeMemory = (): number => {
  if (process.platform !== 'linux') return freemem()
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
  return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024
}

/** Asks once, however many checks want to know. */
const once = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: Promise<T> | undefined
  return () => (answer ??= ask())
}

/** The context of a config on this machine. Nothing is asked before a check does. */
export const openContext = (
  config: Config,
  { cwd, env, signal }: Pick<DoctorContext, 'cwd' | 'env' | 'signal'>,
): DoctorContext => {
  const leftBehind = once(() => endLeftBehind(config, cwd))
  const gpus = once(async () => {
    // They would count as taken memory.
    await leftBehind()
    return await findGpus()
  })
  return {
    ...{ config, cwd, env, signal, leftBehind, gpus, freeDisk, freeMemory },
    nodeVersion: process.version,
    now: () => new Date(),
    memoryPlan: once(() => gatherMemoryPlan(config, cwd, gpus)),
    plan: once(async () => makePlan(config, await gatherFacts(config, null, cwd))),
  }
}
