import { open } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'

const keptBytes = 16_384
const keptLines = 30

/** The last lines of a log, without colours; none where there is no such file yet. */
export const logTail = async (path: string): Promise<string[]> => {
  let handle
  try {
    handle = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, keptBytes)
    const buffer = Buffer.alloc(length)
    await handle.read(buffer, 0, length, size - length)
    const lines = stripVTControlCharacters(buffer.toString('utf8')).split(/\r?\n/)
    return lines.filter((line) => line.trim() !== '').slice(-keptLines)
  } finally {
    await handle.close()
  }
}

interface Sign {
  readonly sign: RegExp
  readonly remedy: string
}

const signs: readonly Sign[] = [
  { sign: /unrecognized arguments?: |invalid choice/, remedy: 'Correct extraArguments, or install another vLLM.' },
  {
    sign: /Free memory on device|CUDA out of memory|OutOfMemoryError/,
    remedy: 'The GPU has not that much free memory: end what else uses it, or lower memoryFraction.',
  },
  {
    sign: /No available memory for the cache blocks|larger than the maximum number of tokens that can be stored/,
    remedy: 'Raise memoryFraction, or lower the length limits or maxSeqs.',
  },
  { sign: /address already in use/i, remedy: 'The port is taken: end the program that holds it, or choose another.' },
  {
    sign: /Error in memory profiling/,
    remedy: 'Another process released GPU memory during the start: wait until the GPU is quiet and start again.',
  },
  {
    sign: /GatedRepoError|401 Client Error|RepositoryNotFoundError/,
    remedy: 'Set HF_TOKEN to a token that may read the model, or correct its name.',
  },
  { sign: /Failed to infer device type|no NVIDIA GPU|CUDA driver/i, remedy: 'vLLM finds no GPU: see nvidia-smi.' },
]

/** What to do about an early end, from the last lines of the log. */
export const diagnoseEngine = (lines: readonly string[]): string | undefined => {
  const text = lines.join('\n')
  return signs.find(({ sign }) => sign.test(text))?.remedy
}
