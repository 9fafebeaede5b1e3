import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PipelineError, type Boundary } from '../../data/errors.ts'
import { flagsOf, type EngineCommand } from './command.ts'

const run = promisify(execFile)
/** The first start of a vLLM imports torch from a cold disk, and takes minutes where the cores are busy too. */
const patience = 600_000
const oldest = [0, 15] as const
export const oldestVersion = oldest.join('.')
const install = 'Install it (pip install vllm) or give its path as the command.'

const ask = async (
  boundary: Boundary,
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string> => {
  try {
    const options = { timeout: patience, maxBuffer: 2 ** 24, ...(signal === undefined ? {} : { signal }) }
    return (await run(program, [...args], options)).stdout
  } catch (error) {
    signal?.throwIfAborted()
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const text = missing ? `there is no program ${program}` : `${program} ${args.join(' ')} failed: ${lastLine(error)}`
    throw new PipelineError(boundary, text, { cause: error, remedy: install })
  }
}

const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as Error & { stderr?: string }
  return stderr.trim().split('\n').at(-1) || message
}

/** Is this no version, or one that is too old? */
export const isOldVersion = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return Number.isNaN(major) || major < oldest[0] || (major === oldest[0] && !(minor >= oldest[1]))
}

/** Options that a help text names. */
const offered = (help: string): Set<string> => new Set(help.match(/--[a-z][a-z0-9-]+/g))

/**
 * Asks an installed vLLM for its version and its options. Throws a PipelineError for a program that is not there, is too
 * old, or lacks an option that the command uses; the option is named.
 * @returns the version as printed
 */
export const checkEngine = async (
  { program, args }: EngineCommand,
  boundary: Boundary,
  signal?: AbortSignal,
): Promise<string> => {
  const version = (await ask(boundary, program, ['--version'], signal)).trim().split(/\s+/).at(-1) ?? ''
  if (isOldVersion(version)) {
    throw new PipelineError(
      boundary,
      `${program} is no vLLM of version ${oldestVersion} or newer: it says ${version || 'nothing'}`,
      {
        remedy: 'Install a newer one: older ones serve stale or wrong adapters.',
      },
    )
  }
  const known = offered(await ask(boundary, program, ['serve', '--help=all'], signal))
  const missing = flagsOf(args).filter((flag) => !known.has(flag))
  if (missing.length > 0) {
    throw new PipelineError(boundary, `vLLM ${version} has no option ${missing.join(', ')}`, {
      remedy: 'Install another version, or correct extraArguments.',
    })
  }
  return version
}
