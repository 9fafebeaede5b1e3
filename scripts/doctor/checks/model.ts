import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findModel } from '../../../trainer/services.ts'
import { fail, ok, skip, type Check, type DoctorContext, type Finding } from '../check.ts'

const isWeights = (name: string): boolean => name.endsWith('.safetensors') || /^pytorch_model.*\.bin$/.test(name)

const directory = async (path: string): Promise<Finding> => {
  const missing = ['config.json', 'tokenizer_config.json'].filter((name) => !existsSync(join(path, name)))
  if (!(await readdir(path)).some(isWeights)) missing.push('weights (*.safetensors)')
  return missing.length === 0
    ? ok(path)
    : fail(`${path} has no ${missing.join(', ')}`, 'Set model.path to a complete Hugging Face causal LM.')
}

export const modelCheck: Check = {
  name: 'model',
  beforeTraining: true,
  run: async ({ config, cwd }: DoctorContext) => {
    if (config.worker.kind === 'attach') return skip('the worker has its model')
    const found = findModel(config.model.path, cwd)
    return found.kind === 'directory' ? await directory(found.location) : skip(`${found.location} is a hub model`)
  },
}
