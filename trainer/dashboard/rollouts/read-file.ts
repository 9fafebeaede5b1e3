import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { nodeIds } from '../../../data/records/node.ts'
import type { Score } from '../../../data/records/reward.ts'
import { finishReasons, type Columns, type LightRecord, type TextBytes } from './columns.ts'
import { parseLight } from './scan.ts'

const lineFeed = 0x0a
/** So long is read at a stretch; then requests come first. */
const stretchMs = 4

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
  const { attempt, group, verdicts, scores, advantages } = (value ?? {}) as Partial<LightRecord>
  return (
    Number.isInteger(attempt) &&
    isLightGroup(group) &&
    Array.isArray(verdicts) &&
    Array.isArray(scores) &&
    areLight(scores) &&
    Array.isArray(advantages?.advantages)
  )
}

const printBytes = 4096
const digest = (head: Buffer, tail: Buffer): string =>
  createHash('sha256').update(head).update(tail).digest('base64url').slice(0, 22)

/** Recognises a file by its beginning and its end. */
const printOf = (content: Buffer): string =>
  digest(content.subarray(0, printBytes), content.subarray(Math.max(0, content.length - printBytes)))

/** The same of a file on disk, of which only those parts are read. */
export const printOfFile = async (path: string, size: number): Promise<string> => {
  const handle = await open(path, 'r')
  try {
    const length = Math.min(printBytes, size)
    const [head, tail] = [Buffer.alloc(length), Buffer.alloc(length)]
    await handle.read(head, 0, length, 0)
    await handle.read(tail, 0, length, size - length)
    return digest(head, tail)
  } finally {
    await handle.close()
  }
}

export interface ReadFile {
  readonly size: number
  readonly print: string
  readonly rows: number
  readonly unreadable: number
  /** In lower case, one after the other: the texts of its completions, then the reasons of the judge. */
  readonly texts: Buffer
}

const lower = (text: string): Buffer => Buffer.from(text.toLowerCase())

const textsOf = ({ group, verdicts }: LightRecord): TextBytes[] =>
  group.completions.map(({ text }, i) => {
    // Not checked before, as nothing else of a verdict is.
    const reason: unknown = verdicts[i]?.reason
    return { completion: lower(text), reason: lower(typeof reason === 'string' ? reason : '') }
  })

/** Adds the rows of one file of rollouts. Its last line counts when it has its end. */
export const readRolloutFile = async (path: string, file: number, columns: Columns): Promise<ReadFile> => {
  const content = await readFile(path)
  const first = columns.count
  const texts: TextBytes[] = []
  let [start, groupInFile, unreadable] = [0, 0, 0]
  let began = performance.now()
  for (let end = content.indexOf(lineFeed); end !== -1; end = content.indexOf(lineFeed, start)) {
    const place = { file, offset: start, length: end - start, groupInFile }
    start = end + 1
    if (place.length === 0) continue
    groupInFile++
    try {
      const { value, tokens } = parseLight(content.subarray(place.offset, end))
      if (!isLight(value)) throw new TypeError('not a group of rollouts')
      const own = textsOf(value)
      columns.addGroup(value, tokens, own, place)
      texts.push(...own)
    } catch {
      // A line that a writer left behind when it died, or of another version: counted, and shown as a count.
      unreadable++
    }
    if (performance.now() - began > stretchMs) {
      await setImmediate()
      began = performance.now()
    }
  }
  return {
    size: content.length,
    print: printOf(content),
    rows: columns.count - first,
    unreadable,
    texts: Buffer.concat([...texts.map(({ completion }) => completion), ...texts.map(({ reason }) => reason)]),
  }
}
