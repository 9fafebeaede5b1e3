import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { IndexProgress } from '../view.ts'
import { Columns } from './columns.ts'
import { FileList, restoredFile, type KnownFile } from './file-list.ts'
import { newestFirst, ordered, type Order } from './order.ts'
import { printOfFile, readRolloutFile } from './read-file.ts'
import { Searches } from './search.ts'
import { readBytes, SegmentStore } from './segment-store.ts'
import type { IndexedFile } from './segment.ts'
import { Texts } from './texts.ts'

/** A segment is written when so many files, or so many bytes of texts, are not in one yet. */
const [segmentFiles, segmentBytes] = [64, 8 * 2 ** 20]

/** With so many files to go nobody waits for them. */
const fewFiles = 3

const indexedFile = ({ name, size, modified, print, rows, unreadable, textBytes }: KnownFile): IndexedFile => ({
  ...{ name, size, modified, print, rows, unreadable, textBytes },
})

/**
 * What a run's rollout files hold: one row a completion in memory, texts on disk. It is built file by file, the newest
 * first, so that the latest steps can be looked at while the rest is still read; what was read is kept in segments beside
 * the run, so that it is read once.
 */
export class RolloutIndex {
  readonly columns = new Columns()
  readonly texts = new Texts()
  readonly searches = new Searches(this)
  readonly #list: FileList
  readonly #store: SegmentStore
  readonly #firstRow = new Map<number, number>()
  readonly #orders = new Map<Order, { version: number; rows: Uint32Array }>()
  /** Files that are read and in no segment yet, in the order of their rows. */
  #fresh: number[] = []
  #pending: number[] = []
  #working: Promise<void> | null = null
  #restored: Promise<void> | null = null
  #holds = 0
  #released: () => void = () => undefined
  /** Grows with every change: what was computed from the rows can be kept until then. */
  version = 0

  constructor(root: string) {
    this.#list = new FileList(join(root, 'rollouts'))
    this.#store = new SegmentStore(root)
  }

  get files(): readonly KnownFile[] {
    return this.#list.files
  }

  firstRow(file: number): number {
    return this.#firstRow.get(file) ?? 0
  }

  /** Latest and first step of the run's rollouts. */
  steps(): readonly [number, number] | null {
    return this.#list.steps()
  }

  progress(): IndexProgress {
    const live = this.files.filter(({ state }) => state === 'live')
    return {
      filesDone: live.length,
      files: live.length + this.#pending.length,
      rollouts: live.reduce((sum, { rows }) => sum + rows, 0),
      textsLeftOut: this.texts.left,
      unreadable: live.reduce((sum, { unreadable }) => sum + unreadable, 0),
    }
  }

  isLive(row: number): boolean {
    return this.files[this.columns.of.file.data[row] ?? 0]?.state === 'live'
  }

  /** All rows in an order, those that do not count included. */
  ordered(order: Order): Uint32Array {
    const known = this.#orders.get(order)
    if (known?.version === this.version) return known.rows
    const rows = order === 'newest' ? newestFirst(this.columns) : ordered(this.columns, this.ordered('newest'), order)
    this.#orders.set(order, { version: this.version, rows })
    return rows
  }

  /** Looks for new and changed files, and reads them in the background. Waits a moment for the newest ones. */
  async refresh(): Promise<void> {
    await (this.#restored ??= this.#restore())
    const changed = await this.#list.changed()
    if (changed.length > 0) {
      const still = this.#pending.filter((file) => this.files[file]?.state !== 'stale' && !changed.includes(file))
      this.#pending = [...still, ...changed].toSorted((a, b) => (this.files[a]?.step ?? 0) - (this.files[b]?.step ?? 0))
      this.version++
    }
    if (this.#pending.length === 0 && !this.#hasWaste()) return
    this.#working ??= this.#start()
    if (this.columns.count > 0 && this.#pending.length > fewFiles) return
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 100)
    })
    await Promise.race([this.#working, patience])
    clearTimeout(timer)
  }

  /** Resolves when every file is read. */
  async complete(): Promise<void> {
    await this.refresh()
    while (this.#working !== null) await this.#working
  }

  /** No more is read while an answer is put together. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holds++
    try {
      return await work()
    } finally {
      this.#holds--
      if (this.#holds === 0) this.#released()
    }
  }

  async #restore(): Promise<void> {
    for (const { files, block, path, textOffset } of await this.#store.load()) {
      const first = this.columns.count
      const numbers = this.#list.restore(files.map(restoredFile))
      this.columns.append(block, numbers)
      let row = first
      for (const [i, number] of numbers.entries()) {
        this.#firstRow.set(number, row)
        row += files[i]?.rows ?? 0
      }
      this.#textsAreAt(numbers, path, textOffset)
      await setImmediate()
    }
    this.version++
  }

  #start(): Promise<void> {
    const working = this.#work().finally(() => {
      this.#working = null
    })
    // Where nobody waits for it a failure must not end the process: who asks next meets it.
    working.catch(() => undefined)
    return working
  }

  async #work(): Promise<void> {
    for (let file = this.#pending.at(-1); file !== undefined; file = this.#pending.at(-1)) {
      await this.#whenFree()
      await this.#take(file)
      const done = file
      this.#pending = this.#pending.filter((one) => one !== done)
      this.version++
      // Requests come first.
      await setImmediate()
    }
    if (!this.#hasWaste()) return
    await this.#whenFree()
    await this.#dropStale()
  }

  async #whenFree(): Promise<void> {
    while (this.#holds > 0) await new Promise<void>((resolve) => (this.#released = resolve))
  }

  readonly #isStale = (file: number): boolean => this.files[file]?.state === 'stale'

  /** Half of the rows do not count any more, or a segment is of files that are gone: a run may keep its latest steps only. */
  #hasWaste(): boolean {
    const stale = this.files.reduce((sum, { state, rows }) => sum + (state === 'stale' ? rows : 0), 0)
    return 2 * stale > this.columns.count || this.texts.segmentsOf(this.#list.isGone).length > 0
  }

  async #dropStale(): Promise<void> {
    const { count, of } = this.columns
    const kept = new Uint32Array(count)
    // How many rows are kept before each row.
    const before = new Uint32Array(count + 1)
    for (let row = 0, to = 0; row < count; row++) {
      if (!this.#isStale(of.file.data[row] ?? 0)) kept[to++] = row
      before[row + 1] = to
    }
    this.columns.retain(kept.subarray(0, before[count]))
    const segments = this.texts.segmentsOf(this.#list.isGone)
    this.texts.drop(segments, this.#isStale)
    for (const [file, row] of this.#firstRow) {
      if (this.#isStale(file)) this.#firstRow.delete(file)
      else this.#firstRow.set(file, before[row] ?? 0)
    }
    this.#fresh = this.#fresh.filter((file) => !this.#isStale(file))
    this.#list.forgetStale()
    this.searches.clear()
    this.#orders.clear()
    this.version++
    await this.#store.remove(segments)
  }

  /** Reads a file, or sees that it is the one that was read before. */
  async #take(number: number): Promise<void> {
    const file = this.files[number]
    if (file === undefined || file.state === 'stale') return
    try {
      if (file.state === 'found') await this.#read(number, file)
      else if ((await printOfFile(this.#list.path(number), file.size)) === file.print) file.state = 'live'
      else this.#pending.push(this.#list.reread(number))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') file.state = 'stale'
      else if (file.state === 'copied') this.#pending.push(this.#list.reread(number))
      // One file that cannot be read is no reason to show nothing of the others.
      else Object.assign(file, { state: 'live', unreadable: 1 })
    }
  }

  async #read(number: number, file: KnownFile): Promise<void> {
    const first = this.columns.count
    const { texts, ...read } = await readRolloutFile(this.#list.path(number), number, this.columns)
    Object.assign(file, read, { textBytes: texts.length })
    if (file.state === 'found') file.state = 'live'
    this.#firstRow.set(number, first)
    this.texts.hold(number, file.step, texts)
    this.#fresh.push(number)
    const bytes = this.#fresh.reduce((sum, fresh) => sum + (this.files[fresh]?.textBytes ?? 0), 0)
    if (this.#store.isWritable && (this.#fresh.length >= segmentFiles || bytes >= segmentBytes)) await this.#save()
  }

  /** Writes the files that are in no segment yet into one. */
  async #save(): Promise<void> {
    const numbers = this.#fresh
    const texts = this.texts.held(numbers)
    if (texts === null) return
    const block = this.columns.block(
      this.firstRow(numbers[0] ?? 0),
      this.columns.count,
      new Map(numbers.map((number, i) => [number, i])),
    )
    const files = numbers.flatMap((number) => this.files[number] ?? [])
    const saved = await this.#store.save(files.map(indexedFile), block, texts)
    if (saved === null) return
    this.#fresh = []
    this.#textsAreAt(numbers, saved.path, saved.textOffset)
  }

  #textsAreAt(numbers: readonly number[], path: string, offset: number): void {
    const files = numbers.flatMap((number) => this.files[number] ?? [])
    const newest = Math.max(0, ...files.map(({ step }) => step))
    const bytes = files.reduce((sum, { textBytes }) => sum + textBytes, 0)
    this.texts.stored(numbers, newest, bytes, path, offset)
  }

  /** The bytes of a row's group. */
  line(row: number): Promise<Buffer> {
    const { file, offset, length } = this.columns.of
    return readBytes(this.#list.path(file.data[row] ?? 0), offset.data[row] ?? 0, length.data[row] ?? 0)
  }

  /** First row of a group; undefined where there is none. */
  findGroup(step: number, group: number): number | undefined {
    const { of, count } = this.columns
    for (let row = 0; row < count; row++) {
      const isIt = of.step.data[row] === step && of.groupInFile.data[row] === group
      if (isIt && of.sample.data[row] === 0 && this.isLive(row)) return row
    }
    return undefined
  }
}
