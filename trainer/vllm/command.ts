import type { LlmJudgeConfig } from '../../judge/config.ts'
import type { JudgeServer } from '../../judge/server-config.ts'
import { PipelineError } from '../../data/errors.ts'
import type { TrainerConfig } from '../config.ts'
import { engineRank } from '../memory/plan.ts'
import type { SpawnedSampler } from './config.ts'

/** A vLLM server to be started: its program, its arguments and what is set in its environment. */
export interface EngineCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly host: string
  readonly port: number
  readonly servedName: string
}

/** Served name of the base model. */
export const policyBaseName = 'base'

const host = '127.0.0.1'

/** No usage statistics leave the machine, and connections of a shut-down get time to end. */
const quiet = { VLLM_NO_USAGE_STATS: '1', DO_NOT_TRACK: '1' }

/** Names of the options among arguments: `--port 1` and `--port=1` alike. */
export const flagsOf = (args: readonly string[]): string[] =>
  args.flatMap((arg) => (/^--[a-z]/.test(arg) ? [arg.split('=', 1)[0]!] : []))

/** Arguments that a user adds may not take back what this program relies on. */
const withExtras = (own: readonly string[], extra: readonly string[], key: string): string[] => {
  const taken = new Set(flagsOf(own))
  const twice = flagsOf(extra).filter((flag) => taken.has(flag))
  if (twice.length > 0) {
    throw new PipelineError('config', `${key}: ${twice.join(', ')} ${twice.length === 1 ? 'is' : 'are'} set already`, {
      remedy: 'Leave it out; what has a config key is changed there.',
    })
  }
  return [...own, ...extra]
}

/** The policy's sampler: run-time adapters, log-probs of what was really sampled, no sampling defaults of the model. */
export const policyCommand = (
  server: SpawnedSampler,
  config: Pick<TrainerConfig, 'model' | 'lora'>,
  at: { readonly model: string; readonly port: number; readonly token: string },
): EngineCommand => {
  const { model, lora } = config
  const own = [
    ...['serve', at.model, '--served-model-name', policyBaseName, '--host', host, '--port', String(at.port)],
    ...['--dtype', server.dtype, '--generation-config', 'vllm', '--logprobs-mode', 'processed_logprobs'],
    ...['--enable-lora', '--max-lora-rank', String(engineRank(lora.rank))],
    ...['--max-loras', String(server.maxLoras), '--max-cpu-loras', String(server.maxCpuLoras)],
    ...['--max-model-len', String(model.maxPromptTokens + model.maxCompletionTokens)],
    ...['--max-num-seqs', String(server.maxSeqs), '--gpu-memory-utilization', String(server.memoryFraction)],
    ...(server.enforceEager ? ['--enforce-eager'] : []),
  ]
  return {
    program: server.command,
    args: withExtras(own, server.extraArguments, 'sampling.server.extraArguments'),
    env: { ...quiet, VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1', VLLM_API_KEY: at.token },
    ...{ host, port: at.port, servedName: policyBaseName },
  }
}

/** The judge's engine, at the address where the judge will be asked. */
export const judgeCommand = (
  judge: Pick<LlmJudgeConfig, 'baseUrl' | 'model'>,
  server: JudgeServer,
  at: { readonly model: string; readonly apiKey: string | null },
): EngineCommand => {
  const port = Number(new URL(judge.baseUrl).port)
  const own = [
    ...['serve', at.model, '--served-model-name', judge.model, '--host', host, '--port', String(port)],
    ...['--generation-config', 'vllm', '--max-model-len', String(server.maxModelLen)],
    ...['--max-num-seqs', String(server.maxSeqs), '--gpu-memory-utilization', String(server.memoryFraction)],
    ...(server.quantization === null ? [] : ['--quantization', server.quantization]),
    ...(server.enforceEager ? ['--enforce-eager'] : []),
  ]
  return {
    program: server.command,
    args: withExtras(own, server.extraArguments, 'judge.server.extraArguments'),
    env: { ...quiet, ...(at.apiKey === null ? {} : { VLLM_API_KEY: at.apiKey }) },
    ...{ host, port, servedName: judge.model },
  }
}
