import { copyFile, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { findConfig, shippedConfigs } from '../../configs/find.ts'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { defineCommand } from '../command.ts'

export const initCommand = defineCommand({
  name: 'init [file]',
  summary: 'Copy a shipped config to the working directory, to be changed there',
  positionals: { file: { type: 'string', describe: 'name of the new file', default: 'train.yaml' } },
  options: {
    file: { type: 'string', default: 'train.yaml', hidden: true },
    from: { type: 'string', choices: shippedConfigs(), default: 'tiny.yaml', describe: 'the config to start from' },
  },
  examples: [['drift-grpo init mine.yaml --from recorded.yaml', 'then: npx train --config mine.yaml']],
  run: async ({ file, from }, { cwd, out }) => {
    const target = resolve(cwd, file)
    try {
      await copyFile(findConfig(from, cwd), target, constants.COPYFILE_EXCL)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new PipelineError('usage', `${target} exists`, {
        remedy: 'Choose another name, or remove it first.',
        cause: error,
      })
    }
    out.data(target)
    out.progress(`edit it, then: npx train --config ${file}`)
    return exitCodes.ok
  },
})
