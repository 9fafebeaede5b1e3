import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import process from 'node:process'

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type StopSignal = keyof typeof codes

const hangupBit = 1n

/** Started under nohup, which means: a closed terminal is no reason to stop. Where the system does not say, it is assumed. */
const ignoresHangup = (): boolean => {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return mask === undefined || (BigInt(`0x${mask}`) & hangupBit) !== 0n
  } catch {
    return true
  }
}

/** Two-stage stop. The first signal asks for a tidy end, the second for an end now; a third ends the process itself. */
export interface Interrupts {
  /** Aborted by the first signal: finish the step, save, end. */
  readonly finish: AbortSignal
  /** Aborted by the second signal: end now, leave no child behind. */
  readonly abort: AbortSignal
  /** 128 and the signal's number, once one has come. */
  readonly exitCode: () => number | undefined
  /** Gives the signals back to their default handling. */
  readonly dispose: () => void
}

/** Resolves when a signal is aborted. */
export const untilAborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort')
}

/** How long an end "now" may take before the process is ended all the same. */
const graceMs = 10_000

/** Listens for Ctrl-C, SIGTERM and a closed terminal; `say` tells the user what each one does, the first one in the words of `onFirst`. */
export const listenForInterrupts = (say: (text: string) => void, onFirst: string): Interrupts => {
  const finish = new AbortController()
  const abort = new AbortController()
  let exitCode: number | undefined

  // A terminal shows ^C behind whatever stands in its last line.
  const tell = (text: string): void => say(process.stderr.isTTY ? `\n${text}` : text)

  const onSignal = (signal: StopSignal): void => {
    exitCode = codes[signal]
    if (abort.signal.aborted) process.exit(exitCode)
    if (finish.signal.aborted) {
      tell('stopping now')
      abort.abort(new Error(`stopped by ${signal}`))
      setTimeout(() => process.exit(exitCode), graceMs).unref()
      return
    }
    tell(`${onFirst}; press Ctrl-C once more to stop now`)
    finish.abort(new Error(`stopped by ${signal}`))
  }

  const signals: readonly StopSignal[] = ignoresHangup() ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, onSignal)
  return {
    finish: finish.signal,
    abort: abort.signal,
    exitCode: () => exitCode,
    dispose: () => {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
