import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile } from '../../data/store/json-file.ts'
import { knownModels } from './known-models.ts'
import { readDims, type ModelDims } from './model-dims.ts'

/** config.json of a model's directory; null where there is none. */
export const readModelConfig = (directory: string): Promise<unknown> =>
  readJsonFile(join(directory, 'config.json'), z.unknown(), {
    boundary: 'config',
    remedy: 'Download the model again, or correct model.path.',
  })

/**
 * The size of a model from its config.json, before anything is downloaded: from its directory, else what is known of the
 * reference models. Null where neither tells.
 * @param model its directory where it is at hand, and the name that the config has for it
 */
export const findDims = async (model: {
  readonly directory: string | null
  readonly name: string
}): Promise<ModelDims | null> => {
  const own = model.directory === null ? null : readDims(await readModelConfig(model.directory))
  return own ?? readDims(knownModels[model.name])
}
