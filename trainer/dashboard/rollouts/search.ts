import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Columns } from './columns.ts'
import { compileExpression, matchInTexts, SlowExpressionError } from './expression.ts'
import type { KnownFile } from './file-list.ts'
import type { Texts } from './texts.ts'

/** What is searched: the rows of an index and their texts. */
interface Searchable {
  readonly columns: Columns
  readonly texts: Texts
  readonly files: readonly KnownFile[]
  readonly firstRow: (file: number) => number
}

/** Calls back with every row whose text, between its ends, holds the needle. */
export const findInTexts = (
  bytes: Buffer,
  needle: Buffer,
  lengths: (row: number) => number,
  rows: number,
  found: (row: number) => void,
): void => {
  let end = 0
  let at = bytes.indexOf(needle)
  for (let row = 0; row < rows && at !== -1; row++) {
    const start = end
    end += lengths(row)
    // A hit may begin in the text before and run over its end: then it is none.
    if (at < start) at = bytes.indexOf(needle, start)
    if (at === -1) return
    if (at + needle.length > end) continue
    found(row)
    at = bytes.indexOf(needle, end)
  }
}

/** What is looked for: words, or a regular expression. */
export interface Wanted {
  readonly text: string
  readonly isExpression: boolean
  /** In completions, or in the reasons of the judge. */
  readonly where: 'completion' | 'reason'
}

/** A search that nobody asked about for so long rests until somebody does. */
const patienceMs = 10_000

/** Completions that hold some words, found bit by bit and kept: the next question goes on where the last one ended. */
export class TextSearch {
  readonly #index: Searchable
  readonly #needle: Buffer
  readonly #expression: RegExp | null
  readonly #where: Wanted['where']
  readonly #searched = new Set<number>()
  #found = new Uint8Array(0)
  #running: Promise<void> | null = null
  #askedAt = 0
  /** Why it was given up; what was found until then stays. */
  problem: string | null = null
  #problemAt = 0

  constructor(index: Searchable, { text, isExpression, where }: Wanted) {
    this.#where = where
    this.#index = index
    this.#needle = Buffer.from(text.toLowerCase())
    this.#expression = isExpression ? compileExpression(text) : null
  }

  has(row: number): boolean {
    return this.#found[row] === 1
  }

  /** Searches what was not searched yet; resolves when all is, or the time is up. The rest goes on meanwhile. */
  async run(budgetMs: number): Promise<void> {
    if (this.problem !== null) return
    this.#askedAt = Date.now()
    this.#running ??= this.#runAll().finally(() => {
      this.#running = null
    })
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, budgetMs)
    })
    await Promise.race([this.#running, patience])
    clearTimeout(timer)
  }

  /** Was given up some time ago: the machine may have been busy then. */
  get isWorthAnother(): boolean {
    return this.problem !== null && Date.now() - this.#problemAt > patienceMs
  }

  /** Files whose texts are known and were not searched. */
  get isComplete(): boolean {
    return this.#running === null
  }

  async #runAll(): Promise<void> {
    const { texts, files, columns } = this.#index
    let scratch = Buffer.alloc(0)
    const atLeast = (bytes: number): Buffer =>
      scratch.length >= bytes ? scratch : (scratch = Buffer.allocUnsafe(bytes))
    for (const source of texts.sources()) {
      // Another dashboard may have removed the texts of files that are gone.
      const isDone = (file: number): boolean => this.#searched.has(file) || files[file]?.state === 'stale'
      if (source.files.every(isDone)) continue
      const bytes = await texts.read(source, atLeast)
      this.#reserve(columns.count)
      let start = 0
      for (const file of source.files) {
        const { textBytes = 0 } = files[file] ?? {}
        const own = bytes.subarray(start, start + textBytes)
        start += textBytes
        if (this.#searched.has(file)) continue
        if (Date.now() - this.#askedAt > patienceMs) return
        try {
          await this.#searchFile(file, own)
        } catch (error) {
          if (!(error instanceof SlowExpressionError)) throw error
          this.problem = error.message
          this.#problemAt = Date.now()
          return
        }
      }
      await setImmediate()
    }
  }

  #reserve(rows: number): void {
    if (rows <= this.#found.length) return
    const larger = new Uint8Array(Math.max(rows, 2 * this.#found.length))
    larger.set(this.#found)
    this.#found = larger
  }

  async #searchFile(file: number, bytes: Buffer): Promise<void> {
    const { rows = 0 } = this.#index.files[file] ?? {}
    const first = this.#index.firstRow(file)
    const { textLength, reasonLength } = this.#index.columns.of
    const of = this.#where === 'reason' ? reasonLength.data : textLength.data
    const lengths = (row: number): number => of[first + row] ?? 0
    // Reasons lie behind the completions.
    const border = textLength.data.subarray(first, first + rows).reduce((sum, length) => sum + length, 0)
    const part = this.#where === 'reason' ? bytes.subarray(border) : bytes.subarray(0, border)
    const found = (row: number): void => {
      this.#found[first + row] = 1
    }
    if (this.#expression === null) findInTexts(part, this.#needle, lengths, rows, found)
    else await matchInTexts(part, this.#expression, lengths, rows, found)
    this.#searched.add(file)
  }
}

const mostSearches = 6

/** The latest searches of an index. */
export class Searches {
  readonly #index: Searchable
  readonly #kept = new LRUCache<string, TextSearch>({ max: mostSearches })

  constructor(index: Searchable) {
    this.#index = index
  }

  of(wanted: Wanted): TextSearch {
    const name = JSON.stringify(wanted)
    const kept = this.#kept.get(name)
    const known = kept === undefined || kept.isWorthAnother ? new TextSearch(this.#index, wanted) : kept
    this.#kept.set(name, known)
    return known
  }

  /** Rows have other numbers now: what was found is found anew. */
  clear(): void {
    this.#kept.clear()
  }
}
