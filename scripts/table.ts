/** Aligns cells in columns; numbers to the right, text to the left. */
export const table = (header: readonly string[], rows: readonly (readonly (string | number)[])[]): string => {
  const cells = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const isNumeric = header.map((_, column) => rows.some((row) => typeof row[column] === 'number'))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  return cells.map(line).join('\n')
}

/** A mean for people: two decimals, a dash where there is none. */
export const decimal = (value: number | null, digits = 2): string => (value === null ? '-' : value.toFixed(digits))
