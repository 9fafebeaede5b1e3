import { exitCodes, PipelineError, type Boundary } from '../data/errors.ts'

/** What the user sees of an error, and the exit code that goes with it. */
export interface ErrorReport {
  readonly text: string
  readonly exitCode: number
}

/** Where an error arose decides what kind of failure it was. */
const exitCodeOf = {
  usage: exitCodes.usage,
  config: exitCodes.usage,
  setup: exitCodes.preflight,
  pool: exitCodes.preflight,
  judge: exitCodes.training,
  rewards: exitCodes.training,
  sampler: exitCodes.training,
  worker: exitCodes.training,
  checkpoint: exitCodes.training,
  storage: exitCodes.training,
} as const satisfies Record<Boundary, number>

/** Refusals of the operating system that a user can act on, in the words of the user. */
const systemErrors: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file, not a directory',
  ENOENT: 'there is no such file or directory',
  EISDIR: 'it is a directory',
  EMFILE: 'too many open files',
  ELOOP: 'a link leads back to itself',
  ENAMETOOLONG: 'the name is too long',
}

const systemText = (error: NodeJS.ErrnoException): string | undefined => {
  const known = systemErrors[error.code ?? '']
  return known === undefined ? undefined : `${known}: ${error.path ?? error.message}`
}

const debugHint = 'This is a fault of the program, not of your input. DRIFT_GRPO_DEBUG=1 shows where it arose.'

/** The chain of causes, outermost first, each with its stack. */
const traceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\ncaused by ${traceOf(error.cause)}`
}

/** `startedTraining` false: a worker that fails then is a failed preflight, not a failed training. */
const expected = (error: PipelineError, startedTraining: boolean): ErrorReport => {
  const remedy = error.remedy === undefined ? '' : `\n  ${error.remedy}`
  const code = exitCodeOf[error.boundary]
  return {
    text: `${error.boundary} error: ${error.message}${remedy}`,
    exitCode: code === exitCodes.training && !startedTraining ? exitCodes.preflight : code,
  }
}

/**
 * Turns any error into text, here and nowhere else: what failed, where, and what to do. Stack traces are for
 * DRIFT_GRPO_DEBUG=1.
 */
export const reportError = (
  error: unknown,
  { debug = false, startedTraining = false }: { readonly debug?: boolean; readonly startedTraining?: boolean } = {},
): ErrorReport => {
  const trace = debug ? `\n${traceOf(error)}` : ''
  if (error instanceof PipelineError) {
    const report = expected(error, startedTraining)
    return { ...report, text: report.text + trace }
  }
  const system = error instanceof Error ? systemText(error) : undefined
  if (system !== undefined) return { text: `error: ${system}${trace}`, exitCode: exitCodes.preflight }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return { text: `unexpected error: ${message}${debug ? trace : `\n  ${debugHint}`}`, exitCode: exitCodes.unexpected }
}
