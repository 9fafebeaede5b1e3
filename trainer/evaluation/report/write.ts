import { join } from 'node:path'
import { writeFileAtomic } from '../../../data/store/atomic.ts'
import type { ReportContent } from './content.ts'
import { promptsCsv, resultsCsv, tableCsv } from './csv.ts'
import { htmlReport } from './html.ts'
import { markdownReport } from './markdown.ts'
import type { Table } from './tables.ts'

/** Writes a report in all its forms; returns the names of the files. */
export const writeReport = async (directory: string, content: ReportContent): Promise<string[]> => {
  const { figures, tables, statistics } = content
  const shown: readonly Table[] = [...figures.map(({ table }) => table), ...tables]
  const files = new Map<string, string>([
    ['report.html', htmlReport(content)],
    ['report.md', markdownReport(content)],
    ['all-results.csv', resultsCsv(statistics)],
    ['all-prompts.csv', promptsCsv(statistics)],
    ...figures.map(({ id, svg }): [string, string] => [`${id}.svg`, `${svg}\n`]),
    ...shown.map((table): [string, string] => [`${table.id}.csv`, tableCsv(table)]),
  ])
  for (const [name, text] of files) await writeFileAtomic(join(directory, name), text)
  return [...files.keys()]
}
