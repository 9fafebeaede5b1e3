import { judgeCommand, policyCommand } from '../../../trainer/vllm/command.ts'
import { checkEngine } from '../../../trainer/vllm/features.ts'
import { ok, skip, type Check, type DoctorContext } from '../check.ts'

/** The commands that a run would start, each with a place-holder for what is chosen then. */
const commandsOf = ({ config }: DoctorContext) => {
  const { sampling, judge, model } = config
  return [
    ...(sampling.server.kind === 'spawn'
      ? [policyCommand(sampling.server, config, { model: model.path, port: 0, token: '' })]
      : []),
    ...(judge.kind === 'llm' && judge.server !== null
      ? [judgeCommand(judge, judge.server, { model: judge.server.path, apiKey: null })]
      : []),
  ]
}

export const vllmProgramCheck: Check = {
  name: 'vllm',
  beforeTraining: true,
  run: async (context) => {
    const commands = commandsOf(context)
    if (commands.length === 0) return skip('no vLLM is started here')
    // One after the other: each import of torch takes all the disk can give.
    const versions = []
    for (const command of commands) versions.push(await checkEngine(command, 'setup', context.signal))
    return ok(`vLLM ${[...new Set(versions)].join(', ')} with all options that are used`)
  },
}
