import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** `found` to be read; `copied` to be compared with what is known; `live` its rows count; `stale` they do not any more. */
export type FileState = 'found' | 'copied' | 'live' | 'stale'

export interface KnownFile {
  readonly name: string
  readonly step: number
  size: number
  modified: number
  print: string
  rows: number
  unreadable: number
  textBytes: number
  state: FileState
}

const stepOf = (name: string): number => Number(name.slice(5, -6))

/** A file whose rows are known from before: they count once it is seen that it is still the same. */
export const restoredFile = (known: Omit<KnownFile, 'state' | 'step'>): KnownFile => ({
  ...known,
  step: stepOf(known.name),
  state: 'stale',
})

const unreadFile = (name: string, size: number, modified: number): KnownFile => ({
  ...{ name, size, modified, step: stepOf(name), state: 'found' },
  ...{ print: '', rows: 0, unreadable: 0, textBytes: 0 },
})

/** A directory whose time is older than this was not written to since it was listed. */
const settledMs = 2000
/** A file can grow without a change of its directory: all are looked at so often. */
const everyMs = 10_000

/** The files of rollouts, and what happened to them since the last look. */
export class FileList {
  readonly folder: string
  readonly files: KnownFile[] = []
  /** Files by name; the last one is what is on disk. */
  readonly #named = new Map<string, number[]>()
  #listedAt = -Infinity
  #folderModified = -1

  constructor(folder: string) {
    this.folder = folder
  }

  path(file: number): string {
    return join(this.folder, this.files[file]?.name ?? '')
  }

  restore(files: readonly KnownFile[]): number[] {
    return files.map((file) => this.#add(file))
  }

  #add(file: KnownFile): number {
    const number = this.files.push(file) - 1
    this.#named.set(file.name, [...(this.#named.get(file.name) ?? []), number])
    return number
  }

  /** Numbers of files that have to be read or compared. */
  async changed(): Promise<number[]> {
    const folder = await stat(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    const now = Date.now()
    const isSettled = this.#listedAt - (folder?.mtimeMs ?? 0) > settledMs && now - this.#listedAt < everyMs
    if (folder === null || (folder.mtimeMs === this.#folderModified && isSettled)) return []
    this.#listedAt = now
    this.#folderModified = folder.mtimeMs
    const names = (await readdir(this.folder)).filter((name) => /^step-\d+\.jsonl$/.test(name))
    const stats = await Promise.all(names.map((name) => stat(join(this.folder, name)).catch(() => null)))
    const present = new Set<string>()
    const wanted = names.flatMap((name, i) => {
      const found = stats[i]
      if (found === null || found === undefined) return []
      present.add(name)
      return this.#compare(name, found.size, found.mtimeMs)
    })
    for (const [name, numbers] of this.#named) if (!present.has(name)) this.#drop(numbers)
    return wanted
  }

  #drop(numbers: readonly number[]): void {
    for (const number of numbers) {
      const file = this.files[number]
      if (file !== undefined) file.state = 'stale'
    }
  }

  #compare(name: string, size: number, modified: number): number[] {
    const numbers = this.#named.get(name) ?? []
    const sameSize = numbers.filter((number) => this.files[number]?.size === size)
    const same = sameSize.findLast((number) => this.files[number]?.modified === modified)
    const known = this.files[same ?? -1]
    if (same !== undefined && known !== undefined) {
      if (known.state !== 'stale') return []
      this.#drop(numbers)
      if (known.print === '') return [this.#add(unreadFile(name, size, modified))]
      known.state = 'live'
      return []
    }
    this.#drop(numbers)
    const alike = sameSize.at(-1) ?? -1
    const copied = this.files[alike]
    if (copied === undefined || copied.print === '') return [this.#add(unreadFile(name, size, modified))]
    copied.state = 'copied'
    copied.modified = modified
    return [alike]
  }

  /** No file of its name is there any more. */
  readonly isGone = (number: number): boolean =>
    (this.#named.get(this.files[number]?.name ?? '') ?? []).every((other) => this.files[other]?.state === 'stale')

  /** The rows of stale files are dropped: one that comes back is read anew. */
  forgetStale(): void {
    for (const [name, numbers] of this.#named) {
      const others = numbers.filter((number) => this.files[number]?.state !== 'stale')
      if (others.length === 0) this.#named.delete(name)
      else this.#named.set(name, others)
    }
    for (const file of this.files) if (file.state === 'stale') file.rows = 0
  }

  /** A copied file turned out to be another one. */
  reread(number: number): number {
    const { name, size, modified } = this.files[number] ?? unreadFile('', 0, 0)
    this.#drop([number])
    return this.#add(unreadFile(name, size, modified))
  }

  /** Steps of the run that are on record, from and to. */
  steps(): readonly [number, number] | null {
    let [first, last] = [Infinity, -Infinity]
    for (const { state, step } of this.files) {
      if (state === 'stale') continue
      first = Math.min(first, step)
      last = Math.max(last, step)
    }
    return last < first ? null : [first, last]
  }
}
