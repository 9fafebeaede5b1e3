import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { processStart } from '../../trainer/lock.ts'

const commandLine = (pid: string): string => {
  try {
    return readFileSync(join('/proc', pid, 'cmdline'), 'utf8')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}

/** The processes whose command line holds a text, by their ids. Linux only. */
export const running = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text))
    .map(Number)
    .filter((pid) => processStart(pid) !== undefined)
