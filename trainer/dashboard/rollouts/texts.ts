/** Bytes of completions that are kept in memory for searching. */
export const textBudget = 120 * 2 ** 20

interface FileTexts {
  readonly firstRow: number
  readonly bytes: Buffer
  /** Where each row's text ends. */
  readonly ends: Uint32Array
}

/** Lower-cased completions by file, one buffer each: a search skips a whole file that lacks the word. */
export class Texts {
  readonly #files = new Map<number, FileTexts>()
  readonly #budget: number
  #size = 0
  /** A file was left out because the budget was spent. */
  isPartial = false

  constructor(budget = textBudget) {
    this.#budget = budget
  }

  /** Keeps a file's texts, unless the budget is spent. */
  add(file: number, firstRow: number, texts: readonly string[]): void {
    const parts = texts.map((text) => Buffer.from(text.toLowerCase()))
    const size = parts.reduce((sum, part) => sum + part.length, 0)
    if (this.#size + size > this.#budget) {
      this.isPartial = true
      return
    }
    this.#size += size
    let end = 0
    const ends = Uint32Array.from(parts, (part) => (end += part.length))
    this.#files.set(file, { firstRow, bytes: Buffer.concat(parts), ends })
  }

  /** Calls back with every row whose text holds the words, as they are, whatever their case. */
  find(text: string, found: (row: number) => void): void {
    const needle = Buffer.from(text.toLowerCase())
    if (needle.length === 0) return
    for (const { firstRow, bytes, ends } of this.#files.values()) {
      let at = bytes.indexOf(needle)
      for (let i = 0; at !== -1 && i < ends.length; i++) {
        const end = ends[i] ?? 0
        if (at >= end) continue
        const inside = at + needle.length <= end
        if (inside) found(firstRow + i)
        at = bytes.indexOf(needle, inside ? end : at + 1)
        // The next hit may begin in the same text where this one ran over its end.
        if (!inside && at !== -1 && at < end) i--
      }
    }
  }
}
