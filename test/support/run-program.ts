import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../../data/package-root.ts'
import { buildIsCurrent } from '../../scripts/setup/build.mjs'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  /** Resolves when stderr has shown the text, to all that it has shown. */
  readonly said: (part: string) => Promise<string>
  readonly ended: Promise<Ended>
}

export interface ProgramOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Compiled programs start three times as fast; sources that are newer than dist/ are run as they are. */
const commandFor = (script: string): string[] => {
  const root = packageRoot()
  if (/^scripts\/.*\.ts$/.test(script) && buildIsCurrent(root))
    return [join(root, 'dist', script.replace(/\.ts$/, '.js'))]
  return ['--import', import.meta.resolve('tsx'), join(root, script)]
}

/** Starts one of the repository's programs as its own process. */
export const startProgram = (script: string, args: readonly string[], options: ProgramOptions = {}): Started => {
  const child = spawn(process.execPath, [...commandFor(script), ...args], {
    cwd: options.cwd ?? packageRoot(),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  const ended = once(child, 'close').then((): Ended => ({ code: child.exitCode, stdout, stderr }))
  const said = async (part: string): Promise<string> => {
    const gone = ended.then(() => {
      throw new Error(`the program ended without saying "${part}"; it said:\n${stderr}`)
    })
    // It also rejects when nobody waits any more.
    gone.catch(() => undefined)
    while (!stderr.includes(part)) await Promise.race([once(child.stderr, 'data'), gone])
    return stderr
  }
  return { child, said, ended }
}

/** Runs one of the repository's programs to its end. */
export const runProgram = (script: string, args: readonly string[], options: ProgramOptions = {}): Promise<Ended> =>
  startProgram(script, args, options).ended
