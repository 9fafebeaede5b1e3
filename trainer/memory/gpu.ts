import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A GPU of this machine; sizes in bytes. */
export interface Gpu {
  readonly name: string
  readonly totalBytes: number
  readonly freeBytes: number
}

const mebi = 2 ** 20
const run = promisify(execFile)

/** Reads `name, total, free` lines in MiB; what is no such line (a device without a figure, such as MIG's) is left out. */
export const parseGpus = (text: string): Gpu[] =>
  text.split('\n').flatMap((line): Gpu[] => {
    const [name = '', total = '', free = ''] = line.split(',').map((cell) => cell.trim())
    const sizes = [Number(total), Number(free)].map((size) => size * mebi)
    const [totalBytes = Number.NaN, freeBytes = Number.NaN] = sizes
    return name !== '' && total !== '' && totalBytes > 0 && freeBytes >= 0 ? [{ name, totalBytes, freeBytes }] : []
  })

/** The NVIDIA GPUs of this machine, in the driver's order; none where there is no driver. */
export const findGpus = async (): Promise<Gpu[]> => {
  const query = ['--query-gpu=name,memory.total,memory.free', '--format=csv,noheader,nounits']
  try {
    return parseGpus((await run('nvidia-smi', query, { timeout: 20_000 })).stdout)
  } catch {
    return []
  }
}
