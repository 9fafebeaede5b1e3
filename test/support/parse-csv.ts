/** Reads CSV as RFC 4180 has it, strictly: throws where a quote stands in the wrong place. */
export const parseCsv = (text: string): string[][] => {
  const rows: string[][] = []
  let rest = text
  let row: string[] = []
  while (rest !== '') {
    const found = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest)
    if (found === null) throw new Error(`no field of CSV: ${JSON.stringify(rest.slice(0, 60))}`)
    const [whole, quoted, plain = '', end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end !== ',') {
      rows.push(row)
      row = []
    }
    rest = rest.slice(whole.length)
  }
  return rows
}
