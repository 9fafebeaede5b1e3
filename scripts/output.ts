import process from 'node:process'
import type { Writable } from 'node:stream'
import { printable } from '../data/printable.ts'
import { reportError } from './report-error.ts'

/** The two channels of every command: stdout carries data only, stderr everything a person reads on the way. */
export interface Output {
  readonly data: (text: string) => void
  readonly progress: (text: string) => void
}

/**
 * Writes lines until they cannot be written any more. A reader that goes away is no failure: `drift-grpo … | head` must
 * not end in a stack trace, nor end a training. `onLost` hears of any other failure, such as a full disk.
 */
const lineWriter = (stream: Writable, onLost: (error: Error) => void): ((text: string) => void) => {
  let isOpen = true
  stream.on('error', (error: NodeJS.ErrnoException) => {
    const first = isOpen
    isOpen = false
    if (first && error.code !== 'EPIPE') onLost(error)
  })
  return (text) => {
    if (isOpen) stream.write(`${printable(text)}\n`)
  }
}

export const openOutput = (stdout: Writable = process.stdout, stderr: Writable = process.stderr): Output => {
  // Progress that cannot be written has nobody to be told, and must not end a training.
  const progress = lineWriter(stderr, () => undefined)
  const data = lineWriter(stdout, (error) => {
    const { text, exitCode } = reportError(error)
    progress(`${text}\n  What was to go to standard output is not all there.`)
    // The command's own exit code is set when it ends, which may be before or after this.
    process.once('exit', () => {
      if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = exitCode
    })
  })
  return { data, progress }
}
