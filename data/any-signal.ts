import { setMaxListeners } from 'node:events'

/**
 * A signal that is aborted with the first of several, until it is released. `AbortSignal.any` leaves something behind in
 * each of them: of a signal that lives as long as a run, that is a leak with every question and every request.
 */
export const anySignal = (
  signals: readonly (AbortSignal | undefined)[],
): { readonly signal: AbortSignal; readonly release: () => void } => {
  const controller = new AbortController()
  const sources = signals.filter((signal) => signal !== undefined)
  const aborted = sources.find((signal) => signal.aborted)
  if (aborted !== undefined) controller.abort(aborted.reason)
  const stop = ({ target }: Event): void => controller.abort((target as AbortSignal).reason)
  for (const source of sources) {
    setMaxListeners(0, source)
    source.addEventListener('abort', stop, { once: true })
  }
  return {
    signal: controller.signal,
    release: () => {
      for (const source of sources) source.removeEventListener('abort', stop)
    },
  }
}
