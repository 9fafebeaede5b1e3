import type { ReportContent } from './content.ts'
import type { Table } from './tables.ts'

/** Names come from people and models: what Markdown or HTML would read as markup is shown as it is. */
export const plain = (text: string): string => text.replace(/[\\`*_{}[\]<>|#~$]/g, '\\$&').replace(/\s+/g, ' ')

const row = (cells: readonly string[]): string => `| ${cells.map(plain).join(' | ')} |`

/** A table with its title. */
export const markdownTable = ({ title, header, rows }: Table): string =>
  [`**${plain(title)}**`, '', row(header), `|${header.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n')

/** Longer tables are in the CSV files and in the HTML report. */
const longest = 100

const shown = (table: Table): string =>
  table.rows.length <= longest
    ? markdownTable(table)
    : `**${plain(table.title)}**: ${table.rows.length} rows, in \`${table.id}.csv\`.`

/** A report as Markdown; figures are the SVG files beside it. */
export const markdownReport = ({ title, headline, facts, notes, figures, tables }: ReportContent): string =>
  `${[
    `# ${plain(title)}`,
    plain(headline),
    ['| | |', '|---|---|', ...facts.map((pair) => row(pair))].join('\n'),
    ...figures.map(({ id, title: name, caption, table }) =>
      [`## ${plain(name)}`, `![${plain(caption)}](${id}.svg)`, plain(caption), shown(table)].join('\n\n'),
    ),
    '## Tables',
    ...tables.map(shown),
    '## How to read it',
    ...notes.map((note) => `- ${plain(note)}`),
  ].join('\n\n')}\n`
