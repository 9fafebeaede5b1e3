import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parseTar } from 'nanotar'
import type { ParsedTarFileItem } from 'nanotar'
import { PipelineError } from '../../errors.ts'

export interface RunFile {
  /** `model/suite/task/attack/injection.json`: what labels refer to, wherever the runs lie. */
  readonly key: string
  /** Where a person finds it. */
  readonly path: string
  readonly text: string
}

const depth = 5

/** The last five parts of a path; null for what is not a run. */
const keyOf = (path: string): string | null => {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return path.endsWith('.json') && parts.length >= depth ? parts.slice(-depth).join('/') : null
}

const isArchive = (path: string): boolean => /\.(tar\.gz|tgz|tar)$/.test(path)

const unpack = (path: string): Uint8Array => {
  const bytes = readFileSync(path)
  return path.endsWith('.tar') ? bytes : gunzipSync(bytes)
}

const readArchive = (path: string): ParsedTarFileItem[] => {
  try {
    return parseTar(unpack(path))
  } catch (cause) {
    throw new PipelineError('pool', `${path}: not a readable tar archive`, {
      cause,
      remedy: 'Fetch the archive again.',
    })
  }
}

function* archiveFiles(path: string): Generator<RunFile> {
  for (const entry of readArchive(path)) {
    const key = entry.type === 'file' || entry.type === undefined ? keyOf(entry.name) : null
    if (key !== null) yield { key, path: `${path}:${entry.name}`, text: entry.text }
  }
}

const children = (directory: string): string[] =>
  readdirSync(directory)
    .toSorted()
    .map((name) => join(directory, name))

function* walk(path: string): Generator<RunFile> {
  if (statSync(path).isDirectory()) {
    for (const child of children(path)) yield* walk(child)
    return
  }
  if (isArchive(path)) yield* archiveFiles(path)
  const key = keyOf(path)
  if (key !== null) yield { key, path, text: readFileSync(path, 'utf8') }
}

/** All run files below a directory, in the order of their names, out of folders and out of tar archives. */
export function* readRunFiles(directory: string): Generator<RunFile> {
  if (!existsSync(directory))
    throw new PipelineError('pool', `${directory}: no such directory`, {
      remedy: 'Give the directory that holds runs/.',
    })
  const runs = join(directory, 'runs')
  yield* walk(existsSync(runs) ? runs : directory)
}
