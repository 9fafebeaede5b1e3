import { open, stat } from 'node:fs/promises'

const lineFeed = 0x0a
const chunkBytes = 1 << 20

/**
 * Follows an append-only file of JSON lines: each call reads only what came since the last one. A torn last line waits
 * for its end; a line that is no JSON is skipped and counted. A file that shrank, or was replaced, is read anew.
 */
export class JsonlTail {
  readonly #path: string
  #offset = 0
  #identity = ''
  #rest = Buffer.alloc(0)
  #reading: Promise<unknown> = Promise.resolve()
  /** Lines that hold no JSON. */
  unreadable = 0

  constructor(path: string) {
    this.#path = path
  }

  /** New records; `restarted`: forget the earlier ones. Calls wait for each other. */
  read(): Promise<{ restarted: boolean; records: unknown[] }> {
    const next = this.#reading.then(() => this.#read())
    this.#reading = next.catch(() => undefined)
    return next
  }

  async #read(): Promise<{ restarted: boolean; records: unknown[] }> {
    const file = await stat(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    const identity = file === null ? '' : `${file.dev}:${file.ino}`
    const restarted = this.#offset > 0 && (file === null || identity !== this.#identity || file.size < this.#offset)
    if (restarted || file === null) {
      this.#offset = 0
      this.#rest = Buffer.alloc(0)
      this.unreadable = 0
    }
    this.#identity = identity
    const records: unknown[] = []
    if (file !== null && file.size > this.#offset) await this.#append(file.size, records)
    return { restarted, records }
  }

  async #append(size: number, records: unknown[]): Promise<void> {
    const handle = await open(this.#path, 'r')
    try {
      while (this.#offset < size) {
        const chunk = Buffer.alloc(Math.min(chunkBytes, size - this.#offset))
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, this.#offset)
        if (bytesRead === 0) return
        this.#offset += bytesRead
        this.#rest = Buffer.concat([this.#rest, chunk.subarray(0, bytesRead)])
        this.#takeLines(records)
      }
    } finally {
      await handle.close()
    }
  }

  #takeLines(records: unknown[]): void {
    let start = 0
    for (let end = this.#rest.indexOf(lineFeed); end !== -1; end = this.#rest.indexOf(lineFeed, start)) {
      const text = this.#rest.toString('utf8', start, end).trim()
      start = end + 1
      if (text === '') continue
      try {
        records.push(JSON.parse(text))
      } catch {
        // A writer died inside this line and a later one closed it.
        this.unreadable++
      }
    }
    this.#rest = this.#rest.subarray(start)
  }
}
