export type Cell = string | number | boolean | null

/** What a spreadsheet takes for the beginning of a formula. */
const formula = /^[=+\-@\t\r]/

const field = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell !== 'string') return Number.isNaN(cell) ? '' : String(cell)
  const text = formula.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * One line of a CSV file as RFC 4180 has it, with its line end. Null and NaN are empty. Text that a spreadsheet would run as
 * a formula gets an apostrophe in front: prompts and completions are written by strangers.
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(field).join(',')}\r\n`
