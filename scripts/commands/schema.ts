import { inputSchema } from '../../configs/json-schema.ts'
import { Config } from '../../configs/schema.ts'
import { exitCodes } from '../../data/errors.ts'
import { defineCommand } from '../command.ts'

export const schemaCommand = defineCommand({
  name: 'schema',
  summary: 'Print the JSON Schema of a config, with all keys, defaults and limits',
  options: {},
  examples: [['drift-grpo schema > config.schema.json', 'for an editor that completes and checks YAML']],
  run: async (_, { out }) => {
    out.data(JSON.stringify(inputSchema(Config), null, 2))
    return exitCodes.ok
  },
})
