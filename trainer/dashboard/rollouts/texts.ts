import { readBytes } from './segment-store.ts'

/** Where the texts of some files lie, one file after the other. */
interface TextSource {
  /** Numbers of the files, in the order of their texts. */
  readonly files: readonly number[]
  readonly bytes: number
  /** Newest step among them: newer ones are searched first. */
  readonly newest: number
  readonly place: Buffer | { readonly path: string; readonly offset: number }
}

/** Bytes of texts that are kept in memory where nothing can be written beside the run. */
export const textBudget = 80 * 2 ** 20

/** Completions and reasons in lower case, in segments on disk and, of the latest files, in memory. */
export class Texts {
  #sources: TextSource[] = []
  #held = 0
  /** Files whose texts were left out because the budget was spent. */
  left = 0

  /** Keeps a file's texts in memory, unless the budget is spent. */
  hold(file: number, step: number, texts: Buffer): void {
    if (this.#held + texts.length > textBudget) {
      this.left++
      return
    }
    this.#held += texts.length
    this.#sources.push({ files: [file], bytes: texts.length, newest: step, place: texts })
  }

  /** Texts of these files as they are held, in this order; null when one is not held. */
  held(files: readonly number[]): Buffer[] | null {
    const buffers = files.map((file) => this.#sources.find(({ files: own }) => own[0] === file)?.place)
    return buffers.every((place) => Buffer.isBuffer(place)) ? buffers : null
  }

  /** They lie on disk now, or are found there: what is held of them is let go. */
  stored(files: readonly number[], newest: number, bytes: number, path: string, offset: number): void {
    const gone = new Set(files)
    this.#sources = this.#sources.filter(({ place, files: own }) => !(Buffer.isBuffer(place) && gone.has(own[0] ?? -1)))
    this.#countHeld()
    this.#sources.push({ files, newest, bytes, place: { path, offset } })
  }

  /** Segments all of whose files are such. */
  segmentsOf(isSuch: (file: number) => boolean): string[] {
    return this.#sources.flatMap(({ files, place }) =>
      Buffer.isBuffer(place) || !files.every(isSuch) ? [] : [place.path],
    )
  }

  /** Lets go of these segments, and of what is held of stale files. */
  drop(segments: readonly string[], isStale: (file: number) => boolean): void {
    this.#sources = this.#sources.filter(({ files, place }) =>
      Buffer.isBuffer(place) ? !files.every(isStale) : !segments.includes(place.path),
    )
    this.#countHeld()
  }

  #countHeld(): void {
    this.#held = this.#sources.reduce((sum, { place }) => sum + (Buffer.isBuffer(place) ? place.length : 0), 0)
  }

  /** The newest first. */
  sources(): readonly TextSource[] {
    return this.#sources.toSorted((a, b) => b.newest - a.newest)
  }

  /** The bytes of a source; `scratch` is used where they have to be read. */
  async read({ place, bytes }: TextSource, scratch: (bytes: number) => Buffer): Promise<Buffer> {
    if (Buffer.isBuffer(place)) return place
    return readBytes(place.path, place.offset, bytes, scratch(bytes))
  }
}
