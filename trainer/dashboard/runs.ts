import { readdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { lockHolder } from '../lock.ts'
import { liveState } from '../supervision/run-state.ts'
import { alertsOf } from './alerts.ts'
import { Evaluations } from './evaluations.ts'
import { headlineOf } from './headline.ts'
import { refuseLinks } from './links.ts'
import { Labels } from './labels/store.ts'
import { Prompts } from './pool.ts'
import { RunReader } from './run-reader.ts'
import { RolloutIndex } from './rollouts/index-run.ts'
import { numberOf, splitAttempts, type MetricsRow } from './series.ts'
import type { RunCard, RunState } from './view.ts'
import type { RunEvent, RunStatus } from '../../data/records/run.ts'

/** A run that somebody looked at: its readers stay, so that the next look reads only what is new. */
export interface OpenRun {
  readonly reader: RunReader
  readonly rollouts: RolloutIndex
  readonly evaluations: Evaluations
  readonly prompts: Prompts
  readonly labels: Labels
}

const isRun = (path: string): boolean =>
  ['meta.json', 'status.json', 'config.resolved.json'].some((name) => existsSync(join(path, name)))

/** The runs of a directory, or the one run that the directory is. An id is looked up among names on disk, never joined to a path. */
export class Runs {
  readonly directory: string
  readonly #only: string | null
  readonly #open = new Map<string, OpenRun>()

  constructor(directory: string) {
    const path = resolve(directory)
    this.#only = isRun(path) ? basename(path) : null
    this.directory = this.#only === null ? path : dirname(path)
  }

  async ids(): Promise<string[]> {
    if (this.#only !== null) return [this.#only]
    const entries = await readdir(this.directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    return entries
      .filter((entry) => entry.isDirectory() && isRun(join(this.directory, entry.name)))
      .map(({ name }) => name)
  }

  /** Undefined where there is no run of that name. Throws a PipelineError for one that leads to files elsewhere. */
  async find(id: string): Promise<OpenRun | undefined> {
    const name = (await this.ids()).find((known) => known === id)
    if (name === undefined) return undefined
    const known = this.#open.get(name)
    if (known !== undefined) return known
    const root = join(this.directory, name)
    await refuseLinks(root)
    const reader = new RunReader(name, root)
    const run: OpenRun = {
      reader,
      rollouts: new RolloutIndex(root),
      evaluations: new Evaluations(reader),
      prompts: new Prompts(root),
      labels: new Labels(root),
    }
    this.#open.set(name, run)
    return run
  }

  /** All runs, the latest first. A damaged one is shown as such. */
  async cards(): Promise<RunCard[]> {
    const ids = await this.ids()
    const cards = await Promise.all(
      ids.map(async (id) => {
        try {
          const run = await this.find(id)
          return run === undefined ? [] : [await cardOf(run.reader)]
        } catch (error) {
          return [unreadable(id, error)]
        }
      }),
    )
    return cards.flat().toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  }
}

const stateOf = async (status: RunStatus | null, root: string): Promise<RunState> =>
  status === null ? 'starting' : liveState(status, await lockHolder(join(root, 'lock.json')))

const curvePoints = 120

/** At most so many points, each a mean of its neighbours: the same steps always give the same curve. */
export const thin = (values: readonly (number | null)[], most = curvePoints): (number | null)[] => {
  const size = Math.max(1, Math.ceil(values.length / most))
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) => {
    const part = values.slice(i * size, (i + 1) * size).filter((value) => value !== null)
    return part.length === 0 ? null : part.reduce((sum, value) => sum + value, 0) / part.length
  })
}

const unreadable = (id: string, error: unknown): RunCard => ({
  ...{ id, state: 'unreadable', problem: error instanceof Error ? error.message : String(error) },
  ...{ model: null, step: 0, steps: 0, attempt: 0, updatedAt: '', curve: [], lastReward: null },
  ...{ rewardMaximum: null, heldout: null, alerts: { warnings: 0, notes: 0 } },
})

const mean = (rows: readonly MetricsRow[], key: string): number | null => {
  const values = rows.map((row) => numberOf(row, key)).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Where it stands; what status.json does not say yet comes from elsewhere. */
const progressOf = (status: RunStatus | null, steps: number, createdAt: string) => ({
  problem: status?.message ?? null,
  step: status?.step ?? steps,
  steps: status?.steps ?? 0,
  attempt: status?.attempt ?? 0,
  updatedAt: status?.updatedAt ?? createdAt,
})

interface Counted {
  readonly last: MetricsRow | undefined
  readonly events: number
  readonly counts: RunCard['alerts']
}
const counted = new WeakMap<RunReader, Counted>()

/** How many rules fire; looked through again when there is something new. */
const alertCounts = (
  reader: RunReader,
  rows: readonly MetricsRow[],
  events: readonly RunEvent[],
): RunCard['alerts'] => {
  const [known, last] = [counted.get(reader), rows.at(-1)]
  if (known !== undefined && known.last === last && known.events === events.length) return known.counts
  const alerts = alertsOf(rows, events)
  const warnings = alerts.filter(({ level }) => level === 'warning').length
  const counts = { warnings, notes: alerts.length - warnings }
  counted.set(reader, { last, events: events.length, counts })
  return counts
}

/** What lists show of a run. */
export const cardOf = async (reader: RunReader): Promise<RunCard> => {
  try {
    const [status, meta, rows, evaluations, events] = await Promise.all([
      reader.status(),
      reader.meta(),
      reader.metrics(),
      reader.evaluations(),
      reader.events(),
    ])
    const { current } = splitAttempts(rows)
    return {
      id: reader.id,
      state: await stateOf(status, reader.root),
      ...progressOf(status, current.length, meta?.createdAt ?? ''),
      model: meta?.model.architecture ?? null,
      curve: thin(current.map((row) => numberOf(row, 'reward'))),
      lastReward: mean(current.slice(-10), 'reward'),
      rewardMaximum: meta?.rewardMaximum ?? null,
      heldout: await headlineOf(reader, evaluations),
      alerts: alertCounts(reader, current, events),
    }
  } catch (error) {
    return unreadable(reader.id, error)
  }
}
