import process from 'node:process'

type Labels = Readonly<Record<string, string>>

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

const series = (name: string, labels: Labels): string => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}

const family = (name: string, type: string, help: string, lines: readonly string[]): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')

/** A number that only grows, one for each set of labels. */
class Counter {
  readonly #values = new Map<string, number>()
  readonly name: string
  readonly help: string

  constructor(name: string, help: string) {
    this.name = name
    this.help = help
  }

  add(labels: Labels, amount = 1): void {
    const key = series(this.name, labels)
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount)
  }

  render(): string {
    return family(
      this.name,
      'counter',
      this.help,
      [...this.#values].map(([key, value]) => `${key} ${value}`),
    )
  }
}

/** Upper bounds in seconds: structural batches are over in milliseconds, judged ones take minutes. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 180]

/** Durations of one kind of event, by route. */
class Histogram {
  readonly #rows = new Map<string, { readonly buckets: number[]; sum: number; count: number }>()
  readonly name: string
  readonly help: string

  constructor(name: string, help: string) {
    this.name = name
    this.help = help
  }

  observe(route: string, seconds: number): void {
    const row = this.#rows.get(route) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 }
    this.#rows.set(route, row)
    const at = bounds.findIndex((bound) => seconds <= bound)
    if (at !== -1) row.buckets[at] = (row.buckets[at] ?? 0) + 1
    row.sum += seconds
    row.count += 1
  }

  render(): string {
    const lines = [...this.#rows].flatMap(([route, { buckets, sum, count }]) => {
      let total = 0
      const cumulative = bounds.map((bound, i) => {
        total += buckets[i] ?? 0
        return `${series(`${this.name}_bucket`, { route, le: String(bound) })} ${total}`
      })
      return [
        ...cumulative,
        `${series(`${this.name}_bucket`, { route, le: '+Inf' })} ${count}`,
        `${series(`${this.name}_sum`, { route })} ${sum}`,
        `${series(`${this.name}_count`, { route })} ${count}`,
      ]
    })
    return family(this.name, 'histogram', this.help, lines)
  }
}

/**
 * What the service counts, in Prometheus' text format. Written here because it is one screen of code: a client library
 * would be a dependency with a global registry for four families of series.
 */
export interface ServiceMetrics {
  readonly requestStarted: () => void
  readonly requestEnded: (route: string, status: number, seconds: number) => void
  /** `unscored`: the component that failed; null for a scored completion. */
  readonly completion: (node: string, unscored: string | null) => void
  readonly render: () => string
}

export const createMetrics = (): ServiceMetrics => {
  const requests = new Counter('drift_grpo_requests_total', 'Requests answered, by route and status.')
  const completions = new Counter(
    'drift_grpo_completions_total',
    'Completions, by node and by what made them unscored.',
  )
  const durations = new Histogram('drift_grpo_request_seconds', 'Time from a request to its answer.')
  let inFlight = 0

  const gauges = (): string => {
    const { user, system } = process.cpuUsage()
    const cpu = 'process_cpu_seconds_total'
    const memory = 'process_resident_memory_bytes'
    return [
      family('drift_grpo_requests_in_flight', 'gauge', 'Requests that are being answered.', [
        `drift_grpo_requests_in_flight ${inFlight}`,
      ]),
      family(cpu, 'counter', 'Processor time used.', [`${cpu} ${(user + system) / 1e6}`]),
      family(memory, 'gauge', 'Resident memory.', [`${memory} ${process.memoryUsage.rss()}`]),
    ].join('\n')
  }

  return {
    requestStarted: () => {
      inFlight += 1
    },
    requestEnded: (route, status, seconds) => {
      inFlight -= 1
      requests.add({ route, status: String(status) })
      durations.observe(route, seconds)
    },
    completion: (node, unscored) => completions.add({ node, unscored: unscored ?? '' }),
    render: () => `${[requests.render(), completions.render(), durations.render(), gauges()].join('\n')}\n`,
  }
}
