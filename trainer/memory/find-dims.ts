import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { knownModels } from './known-models.ts'
import { readDims, type ModelDims } from './model-dims.ts'

const readConfig = async (directory: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(join(directory, 'config.json'), 'utf8')) as unknown
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * The size of a model from its config.json, before anything is downloaded: from its directory, else what is known of the
 * reference models. Null where neither tells.
 * @param model its directory where it is at hand, and the name that the config has for it
 */
export const findDims = async (model: {
  readonly directory: string | null
  readonly name: string
}): Promise<ModelDims | null> => {
  const own = model.directory === null ? null : readDims(await readConfig(model.directory))
  return own ?? readDims(knownModels[model.name])
}
