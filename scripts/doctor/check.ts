import type { Config } from '../../configs/schema.ts'
import type { Gpu } from '../../trainer/memory/gpu.ts'
import type { MemoryPlan } from '../../trainer/memory/plan.ts'
import type { Plan } from '../plan/plan.ts'

/** What the checks look at. Facts about the machine come in from outside, so that each check can be made to fail. */
export interface DoctorContext {
  readonly config: Config
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly nodeVersion: string
  readonly now: () => Date
  readonly gpus: () => Promise<readonly Gpu[]>
  readonly memoryPlan: () => Promise<MemoryPlan | null>
  /** Null: it could not be made; the check of the pool says why. */
  readonly plan: () => Promise<Plan>
  /** Ends what killed runs have left behind, before anything is measured or looked for that it may hold. */
  readonly leftBehind: () => Promise<readonly string[]>
  /** Free bytes of the disk that holds a directory, or its nearest existing parent. */
  readonly freeDisk: (directory: string) => Promise<number>
  /** Main memory that programs can still take, in bytes. */
  readonly freeMemory: () => number
}

/** skip: this config does not need it. warn: it works, but somebody should know. */
export type Finding =
  | { readonly state: 'ok' | 'skip'; readonly detail: string }
  | { readonly state: 'warn' | 'fail'; readonly detail: string; readonly remedy: string }

export interface Check {
  readonly name: string
  /** Does a training that uses a GPU ask this first? Such a check takes seconds at most. */
  readonly beforeTraining: boolean
  readonly run: (context: DoctorContext) => Promise<Finding>
}

export const ok = (detail: string): Finding => ({ state: 'ok', detail })
export const skip = (detail: string): Finding => ({ state: 'skip', detail })
export const warn = (detail: string, remedy: string): Finding => ({ state: 'warn', detail, remedy })
export const fail = (detail: string, remedy: string): Finding => ({ state: 'fail', detail, remedy })
