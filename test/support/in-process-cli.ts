import { runCli } from '../../scripts/run-cli.ts'
import type { Ended } from './run-program.ts'

/** Runs a command line in this process: as the program would, without the seconds that starting one takes. */
export const runInProcess = async (
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> => {
  let stdout = ''
  let stderr = ''
  const out = {
    data: (text: string): void => void (stdout += `${text}\n`),
    progress: (text: string): void => void (stderr += `${text}\n`),
  }
  const code = await runCli(args, { out, cwd, env })
  return { code, stdout, stderr }
}
