import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { parseJson } from '../json.ts'
import { PipelineError } from '../errors.ts'
import { damaged, type Damage } from './json-file.ts'
import { makeDirectory, storing } from './storage.ts'

const lineFeed = 0x0a

/** True where the file ends inside a line: a writer died there. */
const endsTorn = async (handle: Awaited<ReturnType<typeof open>>): Promise<boolean> => {
  const { size } = await handle.stat()
  if (size === 0) return false
  const last = Buffer.alloc(1)
  await handle.read(last, 0, 1, size - 1)
  return last[0] !== lineFeed
}

interface AppendOptions {
  readonly sync?: boolean
}

const append = async (path: string, records: readonly unknown[], options: AppendOptions): Promise<void> => {
  await makeDirectory(dirname(path))
  const handle = await open(path, 'a+')
  try {
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    await handle.appendFile((await endsTorn(handle)) ? `\n${lines}` : lines)
    if (options.sync === true) await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Appends records, one JSON object a line, all lines in a single write to a file opened for appending, so that lines
 * of several writers do not mix. A torn last line left by a dead writer is closed first, never continued.
 * `sync` waits until the data is on disk. Throws a PipelineError of the boundary `storage` where the file system refuses.
 */
export const appendJsonl = async (
  path: string,
  records: readonly unknown[],
  options: AppendOptions = {},
): Promise<void> => {
  if (records.length > 0) await storing(path, () => append(path, records, options))
}

export interface JsonlLine {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  /** The line ends with a line feed: its writer finished it. */
  readonly complete: boolean
}

/** No record comes near it, and a string cannot grow much further. */
const longestLine = 2 ** 27

const tooLong = (path: string, line: number): PipelineError =>
  new PipelineError('setup', `${path}:${line}: a line of more than ${longestLine} characters`, {
    remedy: 'This is no file of JSON lines: give another one.',
  })

/** Streams the lines of a file with their numbers, in the memory that its longest line takes. */
export async function* readLines(path: string): AsyncGenerator<JsonlLine> {
  let rest = ''
  let line = 0
  for await (const chunk of createReadStream(path, {
    encoding: 'utf8',
    highWaterMark: 1 << 18,
  }) as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n')
    // A long line comes in many chunks: what is there of it already is not looked through again.
    rest += first
    if (rest.length > longestLine) throw tooLong(path, line + 1)
    for (const next of others) {
      yield { line: ++line, text: rest, complete: true }
      rest = next
    }
  }
  if (rest !== '') yield { line: ++line, text: rest, complete: false }
}

/**
 * Streams the records of an append-only file. An incomplete last line, and the remains of one that a later writer
 * closed, are torn records and are left out. Blank lines are skipped.
 */
export async function* readJsonl(path: string): AsyncGenerator {
  for await (const line of readLines(path)) {
    if (line.text.trim() === '') continue
    const value = line.complete ? parseJson(line.text) : undefined
    if (value !== undefined) yield value
  }
}

/** The same where every record is one of a schema. Throws a PipelineError for one that is not. */
export async function* readRecords<T>(path: string, schema: z.ZodType<T>, damage: Damage): AsyncGenerator<T> {
  for await (const value of readJsonl(path)) {
    const record = schema.safeParse(value)
    if (!record.success) throw damaged(path, record.error, damage)
    yield record.data
  }
}

/** The lines of records, lazily. */
export function* jsonLines(records: Iterable<unknown>): Generator<string> {
  for (const record of records) yield `${JSON.stringify(record)}\n`
}
