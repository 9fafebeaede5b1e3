import process from 'node:process'
import type { Writable } from 'node:stream'

/** The two channels of every command: stdout carries data only, stderr everything a person reads on the way. */
export interface Output {
  readonly data: (text: string) => void
  readonly progress: (text: string) => void
}

/** Writes lines until the reader goes away: `drift-grpo … | head` must not end in a stack trace, nor end a training. */
const lineWriter = (stream: Writable): ((text: string) => void) => {
  let isOpen = true
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    isOpen = false
  })
  return (text) => {
    if (isOpen) stream.write(`${text}\n`)
  }
}

export const openOutput = (stdout: Writable = process.stdout, stderr: Writable = process.stderr): Output => ({
  data: lineWriter(stdout),
  progress: lineWriter(stderr),
})
