import { abortable } from '../llm/wait.ts'

interface Flight<T> {
  readonly result: Promise<T>
  readonly cancel: AbortController
  /** How many still want the result. */
  waiting: number
  settled: boolean
}

/** Runs one action for all who want the same thing at the same time. It is cancelled when nobody wants it any more. */
export class Flights<T> {
  readonly #open = new Map<string, Flight<T>>()

  /** `joined`: somebody else's action gave the value. */
  async share(
    key: string,
    action: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly value: T; readonly joined: boolean }> {
    signal?.throwIfAborted()
    const present = this.#open.get(key)
    const flight = present ?? this.#start(key, action)
    flight.waiting += 1
    try {
      return { value: await abortable(flight.result, signal), joined: present !== undefined }
    } finally {
      flight.waiting -= 1
      // Nobody may join what is over, or is being cancelled.
      if (flight.waiting === 0 && this.#open.get(key) === flight) this.#open.delete(key)
      if (flight.waiting === 0 && !flight.settled) flight.cancel.abort(signal?.reason)
    }
  }

  #start(key: string, action: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const cancel = new AbortController()
    const result = action(cancel.signal)
    const flight: Flight<T> = { result, cancel, waiting: 0, settled: false }
    const settle = (): void => {
      flight.settled = true
      if (this.#open.get(key) === flight) this.#open.delete(key)
    }
    // Everybody may have gone by then.
    result.then(settle, settle)
    this.#open.set(key, flight)
    return flight
  }
}
