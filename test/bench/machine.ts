import { cpus, totalmem } from 'node:os'

/** The machine in words, as figures name it. */
export const machine = (): string => {
  const cores = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${String(cores.length)} cores of ${cores[0]?.model.trim() ?? 'an unknown processor'}, ${String(memory)} GiB`
}
