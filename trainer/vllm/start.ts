import { randomBytes } from 'node:crypto'
import type { LlmJudgeConfig } from '../../judge/config.ts'
import { readApiKey } from '../../judge/llm/api-key.ts'
import type { TrainerConfig } from '../config.ts'
import { startEngine, type EngineProcess } from '../vllm-process.ts'
import { judgeCommand, policyCommand } from './command.ts'
import type { SpawnedSampler } from './config.ts'
import { checkEngine } from './features.ts'
import { freePort } from './free-port.ts'

interface Surroundings {
  /** Directory of the model, or its hub name where it could not be fetched here. */
  readonly model: string
  readonly logPath: string
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((text: string) => void) | undefined
}

/** Checks and starts the policy's vLLM on a free port, with a token that only this process knows. */
export const startPolicyEngine = async (
  server: SpawnedSampler,
  config: Pick<TrainerConfig, 'model' | 'lora'>,
  { model, ...rest }: Surroundings,
): Promise<EngineProcess & { readonly token: string }> => {
  const token = randomBytes(24).toString('hex')
  const command = policyCommand(server, config, { model, port: await freePort(), token })
  await checkEngine(command, 'sampler', rest.signal)
  const { startTimeoutSeconds } = server
  const engine = await startEngine({
    what: 'policy server',
    boundary: 'sampler',
    command,
    startTimeoutSeconds,
    ...rest,
  })
  return { ...engine, token }
}

/** Checks and starts the judge's vLLM where the judge will be asked; null when the config starts none. */
export const startJudgeEngine = async (
  judge: LlmJudgeConfig,
  { model, cwd, env, ...rest }: Surroundings & { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<EngineProcess | null> => {
  if (judge.server === null) return null
  const hasKey = judge.apiKeyEnv !== null || judge.apiKeyFile !== null
  const apiKey = hasKey ? await readApiKey(judge, { cwd, env }) : null
  const command = judgeCommand(judge, judge.server, { model, apiKey })
  await checkEngine(command, 'judge', rest.signal)
  const { startTimeoutSeconds } = judge.server
  return await startEngine({ what: 'judge server', boundary: 'judge', command, startTimeoutSeconds, ...rest })
}
