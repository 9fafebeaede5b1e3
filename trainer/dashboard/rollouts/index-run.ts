import { open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Score } from '../../../data/records/reward.ts'
import { nodeIds } from '../../../data/records/node.ts'
import type { IndexProgress } from '../view.ts'
import { Columns, finishReasons, type LightRecord } from './columns.ts'
import { parseLight } from './scan.ts'
import { Texts } from './texts.ts'

const lineFeed = 0x0a

const nodeNames: ReadonlySet<string> = new Set(nodeIds)
const reasons: ReadonlySet<string> = new Set(finishReasons)

const areLight = (scores: readonly Score[]): boolean =>
  scores.every((score) =>
    score.kind === 'scored' ? typeof score.total === 'number' : typeof score.component === 'string',
  )

const isLightGroup = (group: Partial<LightRecord['group']> | undefined): boolean =>
  Number.isInteger(group?.step) &&
  typeof group?.promptId === 'string' &&
  nodeNames.has(group.node ?? '') &&
  Array.isArray(group.completions) &&
  group.completions.every((one) => typeof one.text === 'string' && reasons.has(one.finishReason))

/** Only what the index reads is checked: a hundred thousand completions have to be quick. */
const isLight = (value: unknown): value is LightRecord => {
  const { attempt, group, scores, advantages } = (value ?? {}) as Partial<LightRecord>
  return (
    Number.isInteger(attempt) &&
    isLightGroup(group) &&
    Array.isArray(scores) &&
    areLight(scores) &&
    Array.isArray(advantages?.advantages)
  )
}

interface KnownFile {
  readonly name: string
  readonly step: number
  size: number
  modified: number
  /** An older version of the file was read: its rows do not count any more. */
  stale: boolean
}

const readAndClose = async (handle: FileHandle): Promise<Buffer> => {
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/**
 * What a run's rollout files hold, in memory: one row a completion. It is built file by file, the newest first, so that
 * the latest steps can be looked at while the rest is still read.
 */
export class RolloutIndex {
  readonly columns = new Columns()
  readonly texts: Texts
  readonly #folder: string
  readonly files: KnownFile[] = []
  readonly #newest = new Map<string, number>()
  #pending: number[] = []
  #working: Promise<void> | null = null
  #unreadable = 0
  /** Grows with every change: what was computed from the rows can be kept until then. */
  version = 0

  constructor(root: string, texts = new Texts()) {
    this.#folder = join(root, 'rollouts')
    this.texts = texts
  }

  progress(): IndexProgress {
    const live = this.files.filter(({ stale }) => !stale)
    const oldest = this.texts.isPartial ? this.#oldestText() : null
    return {
      filesDone: live.length - this.#pending.length,
      files: live.length,
      rollouts: this.columns.count,
      textFromStep: oldest,
      unreadable: this.#unreadable,
    }
  }

  #textSteps: number[] = []
  #oldestText(): number {
    return Math.min(...this.#textSteps)
  }

  isLive(row: number): boolean {
    return this.files[this.columns.file.data[row] ?? 0]?.stale === false
  }

  path(file: number): string {
    return join(this.#folder, this.files[file]?.name ?? '')
  }

  /** Looks for new and changed files, and reads them in the background. Resolves when the newest ones are in. */
  async refresh(patience = 150): Promise<void> {
    await this.#list()
    if (this.#pending.length === 0) return
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
    const stop = new AbortController()
    const waited = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience)
      stop.signal.addEventListener('abort', () => clearTimeout(timer))
    })
    await Promise.race([this.#working, waited])
    stop.abort()
  }

  /** Resolves when every file is read. */
  async complete(): Promise<void> {
    await this.refresh()
    while (this.#working !== null) await this.#working
  }

  async #list(): Promise<void> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const known = names.filter((name) => /^step-\d+\.jsonl$/.test(name))
    const stats = await Promise.all(known.map((name) => stat(join(this.#folder, name)).catch(() => null)))
    for (const [i, name] of known.entries()) {
      const found = stats[i]
      if (found === null || found === undefined) continue
      const old = this.#newest.get(name)
      const before = old === undefined ? undefined : this.files[old]
      if (before?.size === found.size && before.modified === found.mtimeMs) continue
      if (before !== undefined) before.stale = true
      const step = Number(name.slice(5, -6))
      const file = this.files.push({ name, step, size: found.size, modified: found.mtimeMs, stale: false }) - 1
      this.#newest.set(name, file)
      this.#pending = this.#pending.filter((one) => one !== old)
      this.#pending.push(file)
    }
    this.#pending.sort((a, b) => (this.files[a]?.step ?? 0) - (this.files[b]?.step ?? 0))
  }

  async #work(): Promise<void> {
    for (let file = this.#pending.at(-1); file !== undefined; file = this.#pending.at(-1)) {
      await this.#readFile(file)
      this.#pending = this.#pending.filter((one) => one !== file)
      this.version++
      // Requests come first.
      await setImmediate()
    }
  }

  async #readFile(file: number): Promise<void> {
    const handle = await open(this.path(file), 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (handle === null) return
    const content = await readAndClose(handle)
    const firstRow = this.columns.count
    const texts: string[] = []
    let start = 0
    let groupInFile = 0
    for (let end = content.indexOf(lineFeed); end !== -1; end = content.indexOf(lineFeed, start)) {
      const place = { file, offset: start, length: end - start, groupInFile }
      start = end + 1
      if (place.length === 0) continue
      groupInFile++
      texts.push(...this.#readLine(content.subarray(place.offset, end), place))
    }
    this.texts.add(file, firstRow, texts)
    if (!this.texts.isPartial) this.#textSteps.push(this.files[file]?.step ?? 0)
  }

  #readLine(line: Buffer, place: { file: number; offset: number; length: number; groupInFile: number }): string[] {
    try {
      const { value, tokens } = parseLight(line)
      if (!isLight(value)) throw new TypeError('not a group of rollouts')
      this.columns.addGroup(value, tokens, place)
      return value.group.completions.map(({ text }) => text)
    } catch {
      // A line that a writer left behind when it died, or of another version: counted, and shown as a count.
      this.#unreadable++
      return []
    }
  }

  /** The bytes of a row's group. */
  async line(row: number): Promise<string> {
    const { file, offset, length } = this.columns
    const bytes = Buffer.alloc(length.data[row] ?? 0)
    const handle = await open(this.path(file.data[row] ?? 0), 'r')
    try {
      await handle.read(bytes, 0, bytes.length, offset.data[row] ?? 0)
    } finally {
      await handle.close()
    }
    return bytes.toString('utf8')
  }

  /** First row of a group; undefined where there is none. */
  findGroup(step: number, group: number): number | undefined {
    const { columns } = this
    for (let row = 0; row < columns.count; row++) {
      const isIt = columns.step.data[row] === step && columns.groupInFile.data[row] === group
      if (isIt && columns.sample.data[row] === 0 && this.isLive(row)) return row
    }
    return undefined
  }
}
