import { randomBytes } from 'node:crypto'
import type { LlmJudgeConfig } from '../../judge/config.ts'
import { readApiKey } from '../../judge/llm/api-key.ts'
import type { TrainerConfig } from '../config.ts'
import type { StartedEngine } from '../supervision/restarted.ts'
import { startEngine, type EngineProcess } from '../vllm-process.ts'
import { judgeCommand, policyCommand } from './command.ts'
import type { SpawnedSampler } from './config.ts'
import { checkEngine } from './features.ts'
import { freePort } from './free-port.ts'

interface Surroundings {
  /** Directory of the model, or its hub name where it could not be fetched here. */
  readonly model: string
  readonly logPath: string
  /** Directory where what is started is put on record. */
  readonly records: string
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((text: string) => void) | undefined
}

/** What messages call it. */
export const policyServer = 'policy server'

/** A policy's vLLM that runs, and how another one is started in its place. */
export interface PolicyEngine {
  readonly engine: StartedEngine
  readonly start: (signal: AbortSignal) => Promise<StartedEngine>
}

/** Checks and starts the policy's vLLM, each time on a free port with a token that only this process knows. */
export const startPolicyEngine = async (
  server: SpawnedSampler,
  config: Pick<TrainerConfig, 'model' | 'lora'>,
  { model, ...surroundings }: Surroundings,
): Promise<PolicyEngine> => {
  const { startTimeoutSeconds } = server
  const commandWith = async (token: string) => policyCommand(server, config, { model, port: await freePort(), token })
  await checkEngine(await commandWith(''), 'sampler', surroundings.signal)
  const start = async (signal: AbortSignal | undefined): Promise<StartedEngine> => {
    const token = randomBytes(24).toString('hex')
    const command = await commandWith(token)
    const options = { ...surroundings, what: policyServer, boundary: 'sampler', command, startTimeoutSeconds } as const
    return { ...(await startEngine({ ...options, signal })), token }
  }
  return { engine: await start(surroundings.signal), start }
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
