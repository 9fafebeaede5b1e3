import { readFile } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { PipelineError } from '../data/errors.ts'
import { findConfig } from './find.ts'
import { resolveConfig, type Resolved } from './resolve.ts'
import { Config } from './schema.ts'

export interface LoadedConfig extends Resolved<Config> {
  /** Absolute path of the file. */
  readonly file: string
  /** The file as given, comments included. */
  readonly text: string
}

/** Far beyond any config: a file of another kind is refused at once instead of being parsed for minutes. */
const largest = 2 ** 20

const readText = async (file: string): Promise<string> => {
  const bytes = await readFile(file)
  if (bytes.length > largest) {
    throw new PipelineError('config', `${file} has ${bytes.length} bytes; a config has at most ${largest}`, {
      remedy: 'Give a config file: YAML, like the shipped ones.',
    })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new PipelineError('config', `${file} is not UTF-8 text`, { remedy: 'Save it as UTF-8.', cause: error })
  }
}

/** Path as a person in the working directory would write it. */
const shortName = (file: string, cwd: string): string => {
  const path = relative(cwd, file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}

/**
 * Finds, reads and checks a config.
 * @param request.name a path, or a bare name (see findConfig)
 * @param request.sets overrides `a.b=c`, the last one wins
 * @throws PipelineError('config') that lists every problem at once
 */
export const loadConfig = async (request: {
  readonly name: string
  readonly sets: readonly string[]
  readonly cwd: string
}): Promise<LoadedConfig> => {
  const file = findConfig(request.name, request.cwd)
  const text = await readText(file)
  return { ...resolveConfig(Config, { name: shortName(file, request.cwd), text }, request.sets), file, text }
}
