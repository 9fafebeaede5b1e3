import type { EvaluationStatistics } from '../../../data/records/evaluation.ts'
import { csvLine, type Cell } from '../../../data/store/csv.ts'
import type { Table } from './tables.ts'

const csv = (rows: readonly (readonly Cell[])[]): string => rows.map(csvLine).join('')

/** All results with all their digits. */
export const resultsCsv = ({ results }: EvaluationStatistics): string =>
  csv([
    [
      'measure',
      'node',
      'target_class',
      'prompts',
      'left_out',
      'base',
      'trained',
      'delta',
      'low',
      'high',
      'wins',
      'ties',
      'losses',
      'p',
      'q',
      'detectable',
    ],
    ...results.map((one) => [
      ...[one.measure, one.node, one.targetClass, one.prompts, one.leftOut, one.base, one.trained, one.delta],
      ...[
        one.interval?.low ?? null,
        one.interval?.high ?? null,
        one.wins,
        one.ties,
        one.losses,
        one.p,
        one.q,
        one.detectable,
      ],
    ]),
  ])

export const promptsCsv = ({ promptDeltas }: EvaluationStatistics): string =>
  csv([
    ['prompt_id', 'node', 'base', 'trained', 'delta'],
    ...promptDeltas.map(({ promptId, node, base, trained, delta }) => [promptId, node, base, trained, delta]),
  ])

/** A table of the report as it is shown; signs and dashes as a spreadsheet reads them. */
export const tableCsv = ({ header, rows }: Table): string =>
  csv([
    header,
    ...rows.map((row) => row.map((cell) => (/^[+−]?[\d.]+$/.test(cell) ? Number(cell.replace('−', '-')) : cell))),
  ])
