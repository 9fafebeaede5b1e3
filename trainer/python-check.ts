import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PipelineError } from '../data/errors.ts'
import { packageRoot } from '../data/package-root.ts'

const run = promisify(execFile)
const oldest = [3, 11] as const
const setUp = 'Run `npm start` (or `npm run setup`) once: it makes the Python environment in .venv.'

/** The interpreter to use: the given one, or the one that set-up made beside package.json. */
export const pythonPath = (configured: string | null): string => {
  if (configured !== null) return configured
  const path = join(packageRoot(), '.venv', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  if (!existsSync(path))
    throw new PipelineError('worker', `there is no Python environment at ${path}`, { remedy: setUp })
  return path
}

/** Refuses an interpreter that cannot be started or is older than 3.11, before anything slow is tried. */
export const checkPython = async (python: string): Promise<void> => {
  let version: string
  try {
    version = (
      await run(python, ['-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])'], { timeout: 60_000 })
    ).stdout.trim()
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const text = missing
      ? `Python was not found at ${python}`
      : `${python} could not be started: ${(error as Error).message}`
    throw new PipelineError('worker', text, {
      cause: error,
      remedy: `Set worker.python to a Python ${oldest.join('.')} or newer. ${setUp}`,
    })
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    throw new PipelineError('worker', `${python} is Python ${version}; ${oldest.join('.')} or newer is needed`, {
      remedy: setUp,
    })
  }
}

/** Names the cause of an early end, from the last lines that the worker wrote. */
export const diagnose = (lines: readonly string[]): string | undefined => {
  const text = lines.join('\n')
  const module = /ModuleNotFoundError: No module named '([^']+)'/.exec(text)?.[1]
  if (module !== undefined) return `The Python package ${module} is not installed. ${setUp}`
  if (/ImportError|OSError: .*\.so/.test(text)) return `A Python package does not load. ${setUp}`
  if (/address already in use/i.test(text))
    return 'The port is taken by another program: let the worker choose a free one.'
  if (/CUDA out of memory|OutOfMemoryError/i.test(text))
    return 'The GPU memory is full: free it, or lower worker.memoryFraction.'
  if (/cannot load a causal language model|has no chat template/.test(text))
    return 'Set model.path to a Hugging Face causal LM with a chat template.'
  return undefined
}
