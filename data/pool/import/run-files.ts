import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { parseTar } from 'nanotar'
import type { ParsedTarFileItem } from 'nanotar'
import { PipelineError } from '../../errors.ts'
import { gunzip } from './gunzip.ts'

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
  return path.endsWith('.tar') ? bytes : gunzip(bytes, path)
}

/** Copied, as the parser reads the whole memory behind a view; a size that is no number would end it silently. */
const parse = (bytes: Uint8Array): ParsedTarFileItem[] => {
  const entries = parseTar(new Uint8Array(bytes))
  const bad = entries.find(({ size }) => !Number.isSafeInteger(size))
  if (bad !== undefined) throw new Error(`the size of ${bad.name} is no number`)
  return entries
}

const readArchive = (path: string): ParsedTarFileItem[] => {
  try {
    return parse(unpack(path))
  } catch (cause) {
    if (cause instanceof PipelineError) throw cause
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
  const kind = lstatSync(path)
  // Recordings come from others: a link in them could name any file of this machine.
  if (kind.isSymbolicLink())
    throw new PipelineError('pool', `${path}: a link inside of recordings is not followed`, {
      remedy: 'Put the file or directory itself there.',
    })
  if (kind.isDirectory()) {
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
  // The directory itself may well be a link: it was named by the user.
  yield* walk(realpathSync(existsSync(runs) ? runs : directory))
}
