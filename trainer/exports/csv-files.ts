import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { csvLine, type Cell } from '../../data/store/csv.ts'
import type { MetricsRow } from '../dashboard/series.ts'
import type { RunDirectory } from '../run-directory.ts'
import { componentsOf, metricsColumns, rolloutColumns, rolloutRows } from './run-rows.ts'

const cellOf = (value: unknown): Cell =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null

/** Writes lines as they come, in constant memory; the file appears when it is whole. */
const writeLines = async (path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<void> => {
  const temporary = `${path}.tmp`
  try {
    await pipeline(Readable.from(lines), createWriteStream(temporary))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

function* metricsLines(rows: readonly MetricsRow[]): Generator<string> {
  const columns = metricsColumns(rows)
  yield csvLine(columns)
  for (const row of rows) yield csvLine(columns.map((name) => cellOf(row[name])))
}

async function* rolloutLines(run: RunDirectory, rows: readonly MetricsRow[]): AsyncGenerator<string> {
  const components = componentsOf(rows)
  const columns = rolloutColumns(components)
  yield csvLine(columns)
  for (const { step } of rows) {
    for await (const row of rolloutRows(run, step, components)) yield csvLine(columns.map((name) => row[name] ?? null))
  }
}

/** Writes metrics.csv and rollouts.csv; returns their names. */
export const exportCsv = async (run: RunDirectory, rows: readonly MetricsRow[], out: string): Promise<string[]> => {
  await mkdir(out, { recursive: true })
  await writeLines(join(out, 'metrics.csv'), metricsLines(rows))
  await writeLines(join(out, 'rollouts.csv'), rolloutLines(run, rows))
  return ['metrics.csv', 'rollouts.csv']
}
