/** One stored record: flat, never changed in place. */
export type Row = Readonly<Record<string, string | number | boolean>>

/** What differs from the seeded state: null before = created, null after = removed. */
export interface Change {
  readonly collection: string
  readonly id: string
  readonly before: Row | null
  readonly after: Row | null
}

interface Entry {
  readonly store: Undoable
  readonly id: string | null
  readonly before: Row | null
  readonly counter: number
}

interface Undoable {
  readonly name: string
  peek(id: string): Row | null
  revert(entry: Entry): void
}

const sameRow = (left: Row | null, right: Row | null): boolean => {
  if (left === right) return true
  if (left === null || right === null) return false
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key])
}

/** Undo journal of all collections: a snapshot is its length, restoring walks back, both in O(changes). */
export class Journal {
  private readonly entries: Entry[] = []

  get length(): number {
    return this.entries.length
  }

  add(entry: Entry): void {
    this.entries.push(entry)
  }

  /** Undoes everything that was written after the mark. */
  revertTo(mark: number): void {
    if (mark < 0 || mark > this.entries.length) throw new Error(`no such snapshot: ${mark}`)
    while (this.entries.length > mark) {
      const entry = this.entries.pop()
      entry?.store.revert(entry)
    }
  }

  /** Net changes since the mark (0: since seeding), in order of first write. */
  changesSince(mark: number): Change[] {
    const first = new Map<string, Entry>()
    for (let i = mark; i < this.entries.length; i++) {
      const entry = this.entries[i]
      if (entry?.id == null) continue
      const key = `${entry.store.name}/${entry.id}`
      if (!first.has(key)) first.set(key, entry)
    }
    const changes: Change[] = []
    for (const { store, id, before } of first.values()) {
      if (id === null) continue
      const after = store.peek(id)
      if (!sameRow(before, after)) changes.push({ collection: store.name, id, before, after })
    }
    return changes
  }
}

/** Records of one type, by id. Every write goes through the journal, except seeding. */
export class Collection<R extends Row> implements Undoable {
  private readonly rows = new Map<string, R>()
  readonly name: string
  private readonly journal: Journal
  private readonly prefix: string
  private counter: number

  /** firstNumber: number of the first generated id. */
  constructor(name: string, journal: Journal, prefix: string, firstNumber: number) {
    this.name = name
    this.journal = journal
    this.prefix = prefix
    this.counter = firstNumber
  }

  get(id: string): R | undefined {
    return this.rows.get(id)
  }

  entries(): [string, R][] {
    return [...this.rows]
  }

  /** All records that pass the test, in order of creation. */
  where(test: (row: R) => boolean): [string, R][] {
    const found: [string, R][] = []
    for (const [id, row] of this.rows) if (test(row)) found.push([id, row])
    return found
  }

  /** Adds a record to the initial state: not a change. Returns its id. */
  seed(row: R, id: string = this.freshId()): string {
    this.rows.set(id, row)
    return id
  }

  /** Adds a record under a generated id, or a given one. */
  add(row: R, id?: string): string {
    if (id === undefined) this.journal.add({ store: this, id: null, before: null, counter: this.counter })
    const key = id ?? this.freshId()
    this.put(key, row)
    return key
  }

  /** Writes a record. Writing what is there already is no change. */
  put(id: string, row: R): void {
    const before = this.peek(id)
    if (sameRow(before, row)) return
    this.journal.add({ store: this, id, before, counter: this.counter })
    this.rows.set(id, row)
  }

  remove(id: string): void {
    const before = this.peek(id)
    if (before === null) return
    this.journal.add({ store: this, id, before, counter: this.counter })
    this.rows.delete(id)
  }

  peek(id: string): R | null {
    return this.rows.get(id) ?? null
  }

  /** Journal only. */
  revert(entry: Entry): void {
    this.counter = entry.counter
    if (entry.id === null) return
    if (entry.before === null) this.rows.delete(entry.id)
    else this.rows.set(entry.id, entry.before as R)
  }

  /** Ids leave small gaps, as ids of a used system do. */
  private freshId(): string {
    const id = `${this.prefix}${this.counter}`
    this.counter += 1 + ((this.counter * 7) % 3)
    return id
  }
}
