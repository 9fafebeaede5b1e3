import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileWriter, ParquetWriter, schemaFromColumnData, type BasicType } from 'hyparquet-writer'
import type { Cell } from '../../data/store/csv.ts'
import type { MetricsRow } from '../dashboard/series.ts'
import type { RunDirectory } from '../run-directory.ts'
import { componentsOf, metricsColumns, rolloutColumns, rolloutRows } from './run-rows.ts'

/** Columns that are not numbers of double precision. */
const types: Readonly<Record<string, BasicType>> = {
  ...{ step: 'INT32', attempt: 'INT32', sample: 'INT32', tokens: 'INT32', policy_version: 'INT32' },
  ...{ from_version: 'INT32', at: 'TIMESTAMP' },
  ...{ node: 'STRING', prompt_id: 'STRING', finish_reason: 'STRING', unscored: 'STRING' },
  ...{ judge_reason: 'STRING', completion: 'STRING' },
}

type Value = Cell | Date
type Row = Readonly<Record<string, unknown>>

/** A value as its column wants it; what JSON could not hold, and what is missing, is null. */
const valueOf = (name: string, value: unknown): Value => {
  if (name === 'at') return typeof value === 'string' ? new Date(value) : null
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' ? value : null
}

/** Rows of one group in the file: about 30 MB of completions at a time. */
const groupRows = 20_000

/** A table that is written group by group; the file appears when it is whole. */
class ParquetTable {
  readonly #path: string
  readonly #columns: readonly string[]
  readonly #writer: ParquetWriter
  #rows: Row[] = []

  constructor(path: string, columns: readonly string[]) {
    this.#path = path
    this.#columns = columns
    const schema = schemaFromColumnData({ columnData: this.#columnData([]) })
    this.#writer = new ParquetWriter({ writer: fileWriter(`${path}.tmp`), schema, createdBy: 'drift-grpo' })
  }

  async add(row: Row): Promise<void> {
    this.#rows.push(row)
    if (this.#rows.length >= groupRows) await this.#flush()
  }

  async finish(): Promise<void> {
    if (this.#rows.length > 0) await this.#flush()
    await this.#writer.finish()
    await rename(`${this.#path}.tmp`, this.#path)
  }

  async discard(): Promise<void> {
    await rm(`${this.#path}.tmp`, { force: true })
  }

  #columnData(rows: readonly Row[]) {
    return this.#columns.map((name) => ({
      name,
      type: types[name] ?? ('DOUBLE' as const),
      data: rows.map((row) => valueOf(name, row[name])),
    }))
  }

  async #flush(): Promise<void> {
    const rows = this.#rows
    this.#rows = []
    await this.#writer.write({ columnData: this.#columnData(rows), rowGroupSize: groupRows })
  }
}

const writeTable = async (
  path: string,
  columns: readonly string[],
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<void> => {
  const table = new ParquetTable(path, columns)
  try {
    for await (const row of rows) await table.add(row)
    await table.finish()
  } catch (error) {
    await table.discard()
    throw error
  }
}

async function* allRollouts(run: RunDirectory, rows: readonly MetricsRow[], components: readonly string[]) {
  for (const { step } of rows) yield* rolloutRows(run, step, components)
}

/** Writes metrics.parquet and rollouts.parquet; returns their names. */
export const exportParquet = async (run: RunDirectory, rows: readonly MetricsRow[], out: string): Promise<string[]> => {
  await mkdir(out, { recursive: true })
  const components = componentsOf(rows)
  await writeTable(join(out, 'metrics.parquet'), metricsColumns(rows), rows)
  await writeTable(join(out, 'rollouts.parquet'), rolloutColumns(components), allRollouts(run, rows, components))
  return ['metrics.parquet', 'rollouts.parquet']
}
