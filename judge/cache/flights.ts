import { abortable } from '../llm/wait.ts'

interface Flight<T> {
  readonly result: Promise<T>
  readonly cancel: AbortController
  /** How many still want the result. */
  waiting: number
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
      if (flight.waiting === 0) {
        // Nobody may join what is being cancelled.
        if (this.#open.get(key) === flight) this.#open.delete(key)
        flight.cancel.abort(signal?.reason)
      }
    }
  }

  #start(key: string, action: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const cancel = new AbortController()
    const result = action(cancel.signal)
    // Everybody may have gone by then.
    result.catch(() => undefined)
    const flight: Flight<T> = { result, cancel, waiting: 0 }
    this.#open.set(key, flight)
    return flight
  }
}
