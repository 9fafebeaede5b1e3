import type { Recorder } from '../recorder.ts'

export interface HeartbeatOptions {
  readonly recorder: Pick<Recorder, 'beat' | 'isPaused' | 'activity'>
  /** Told about a wait that is longer than usual. */
  readonly onStall: (text: string) => void
  readonly everyMs?: number
}

const everyMs = 5000

/**
 * Lets the run's status say every few seconds that it lives, and what it is at; watches that something comes of it.
 * @returns ends it; resolves when nothing is being written any more
 */
export const startHeartbeat = ({ recorder, onStall, ...options }: HeartbeatOptions): (() => Promise<void>) => {
  let beating = Promise.resolve()
  const beat = (): void => {
    // A beat that cannot be written is no reason to end a run: what has to be written will say so by itself.
    beating = recorder.beat().catch(() => undefined)
    // Who waits for an outage to end has been told so.
    const stall = recorder.isPaused ? null : recorder.activity.stall()
    if (stall !== null) onStall(stall)
  }
  const timer = setInterval(beat, options.everyMs ?? everyMs)
  // It keeps nobody alive.
  timer.unref()
  return async () => {
    clearInterval(timer)
    await beating
  }
}
