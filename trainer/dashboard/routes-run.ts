import { Hono } from 'hono'
import { alertsOf } from './alerts.ts'
import { cardOf, type Runs } from './runs.ts'
import type { RunReader } from './run-reader.ts'
import { numberOf, seriesOf, splitAttempts, type MetricsRow } from './series.ts'
import type { Overview, Problem } from './view.ts'

export const noRun: Problem = { error: 'there is no such run', remedy: null }

const median = (values: readonly number[]): number | null =>
  values.length === 0 ? null : (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null)

/** Steps to go times the median of the latest ones. */
const secondsLeft = (rows: readonly MetricsRow[], steps: number, isRunning: boolean): number | null => {
  const times = rows.slice(-20).flatMap((row) => numberOf(row, 'step_time') ?? [])
  const usual = median(times)
  return usual === null || !isRunning ? null : usual * Math.max(0, steps - rows.length)
}

const overviewOf = async (reader: RunReader): Promise<Overview> => {
  const card = await cardOf(reader)
  if (card.state === 'unreadable') {
    const nothing = { attempts: [], events: [], alerts: [], maxima: {}, evaluations: [] }
    return { card, status: null, meta: null, config: null, secondsLeft: null, ...nothing }
  }
  const [status, meta, attempts, events, maxima, config, evaluations, rows] = await Promise.all([
    reader.status(),
    reader.meta(),
    reader.attempts(),
    reader.events(),
    reader.maxima(),
    reader.config(),
    reader.evaluations(),
    reader.metrics(),
  ])
  const { current } = splitAttempts(rows)
  const left = secondsLeft(current, card.steps, card.state === 'running')
  const alerts = alertsOf(current, events)
  return { card, status, meta, attempts, events, alerts, maxima, config, secondsLeft: left, evaluations }
}

const mostKeys = 200

/** A run's records as they are now. */
export const runRoutes = (runs: Runs): Hono =>
  new Hono()
    .get('/:run', async (c) => {
      const run = await runs.find(c.req.param('run'))
      return run === undefined ? c.json(noRun, 404) : c.json(await overviewOf(run.reader))
    })
    .get('/:run/series', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      const keys = (c.req.query('keys') ?? '').split(',').filter((key) => key !== '')
      return c.json(seriesOf(await run.reader.metrics(), keys.slice(0, mostKeys)))
    })
