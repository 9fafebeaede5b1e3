import type { Problem } from '../view.ts'

/** An answer that says why there is none. */
export class ProblemError extends Error {
  readonly remedy: string | null
  readonly status: number
  constructor({ error, remedy }: Problem, status: number) {
    super(error)
    this.name = 'ProblemError'
    this.remedy = remedy
    this.status = status
  }
}

/** What tells the server that a page of its own sends something. */
const sending = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'X-Drift-Grpo': 'mark' },
  body: JSON.stringify(body),
})

/** Asks the server, or sends something. Parts of the path are ids, and are written so that they stay in their place. */
export const ask = async <T>(
  parts: readonly (string | number)[],
  query: URLSearchParams | string = '',
  sent?: unknown,
): Promise<T> => {
  const path = ['api', 'runs', ...parts].map((part) => encodeURIComponent(String(part))).join('/')
  const text = String(query)
  const response = await fetch(`/${path}${text === '' ? '' : `?${text}`}`, sent === undefined ? {} : sending(sent))
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body as T
  const told = body as Partial<Problem> | null
  throw new ProblemError(
    { error: told?.error ?? `the server answered ${response.status}`, remedy: told?.remedy ?? null },
    response.status,
  )
}

export type Connection = 'connected' | 'reconnecting' | 'paused'

/** Follows a run while the page is looked at: browsers allow few connections to one server. */
export class Live {
  readonly #onChange: (changes: readonly string[]) => void
  readonly #onState: (state: Connection) => void
  #source: EventSource | null = null
  #run: string | null = null
  isPaused = false

  constructor(onChange: (changes: readonly string[]) => void, onState: (state: Connection) => void) {
    this.#onChange = onChange
    this.#onState = onState
    document.addEventListener('visibilitychange', () => {
      this.#connect()
      if (!document.hidden) onChange(['everything'])
    })
  }

  follow(run: string | null): void {
    if (run === this.#run) return
    this.#run = run
    this.#connect()
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused
    this.#connect()
    if (isPaused) this.#onState('paused')
    else this.#onChange(['everything'])
  }

  #connect(): void {
    this.#source?.close()
    this.#source = null
    if (this.#run === null || this.isPaused || document.hidden) return
    const source = new EventSource(`/api/runs/${encodeURIComponent(this.#run)}/live`)
    let wasLost = false
    source.addEventListener('open', () => {
      this.#onState('connected')
      // What happened while nobody listened.
      if (wasLost) this.#onChange(['everything'])
      wasLost = false
    })
    source.addEventListener('error', () => {
      wasLost = true
      this.#onState('reconnecting')
    })
    source.addEventListener('change', (event: MessageEvent<string>) => {
      this.#onChange(JSON.parse(event.data) as string[])
    })
    this.#source = source
  }
}
