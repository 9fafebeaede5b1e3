import { PipelineError } from '../../data/errors.ts'
import type { HubFile } from '../../data/hub/content.ts'
import { readLines } from '../../data/store/jsonl.ts'
import { refuseSecrets } from './secrets.ts'

export interface CheckOptions {
  /** Values of secrets of the environment. */
  readonly secrets: readonly string[]
  /** Directories of this machine that no file may name. */
  readonly directories: readonly string[]
}

/** Two parts at least: the text of a pool may well speak of `/` or `/home`. */
const tellsPlace = (directory: string): boolean => directory.split('/').filter((part) => part !== '').length >= 2

const refusePlaces = (name: string, line: string, directories: readonly string[]): void => {
  const place = directories.filter(tellsPlace).find((directory) => line.includes(directory))
  if (place === undefined) return
  throw new PipelineError('usage', `${name} names a directory of this machine: ${place}; nothing was sent`, {
    remedy: 'Remove it from the file.',
  })
}

/** Throws a usage error where a file that is text holds a secret, or a place on this machine. */
export const checkFiles = async (files: readonly HubFile[], options: CheckOptions): Promise<void> => {
  for (const file of files) {
    const check = (line: string, number: number): void => {
      refuseSecrets(`${file.path}:${number}`, line, options.secrets)
      refusePlaces(`${file.path}:${number}`, line, options.directories)
    }
    if ('text' in file) file.text.split('\n').forEach((line, index) => check(line, index + 1))
    // Weights are no text.
    else if (file.path.endsWith('.jsonl')) for await (const { line, text } of readLines(file.file)) check(text, line)
  }
}
