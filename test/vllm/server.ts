import { join } from 'node:path'
import process from 'node:process'
import { LoraSection, ModelSection } from '../../trainer/config.ts'
import { policyCommand } from '../../trainer/vllm/command.ts'
import { SpawnedSampler } from '../../trainer/vllm/config.ts'
import { freePort } from '../../trainer/vllm/free-port.ts'
import { startEngine, type EngineProcess } from '../../trainer/vllm-process.ts'

/**
 * The vllm program that scripts/test-vllm.mjs installed; it also sets what a CPU needs in the environment. Empty where the
 * installation is impossible: these tests are skipped then.
 */
export const vllmProgram = process.env['DRIFT_GRPO_VLLM'] ?? ''
export const noVllm = vllmProgram === ''
export const vllmVersion = process.env['DRIFT_GRPO_VLLM_VERSION'] ?? ''

export const token = 'a-token-for-tests'

/** Settings that a vLLM without a GPU needs. The deadline is for a machine that is busy with other things. */
const settings = (): SpawnedSampler =>
  SpawnedSampler.parse({
    kind: 'spawn',
    command: vllmProgram,
    dtype: 'float32',
    enforceEager: true,
    maxSeqs: 16,
    startTimeoutSeconds: 1500,
  })

export interface ServerRequest {
  readonly model: string
  /** Where its log goes. */
  readonly directory: string
  readonly contextTokens: number
  readonly port?: number
}

/** Starts a real vLLM by the command line that a run would use, and waits until it is ready. */
export const startServer = async (request: ServerRequest): Promise<EngineProcess> => {
  const { model, directory, contextTokens } = request
  const sections = {
    model: ModelSection.parse({ path: model, maxPromptTokens: contextTokens - 1, maxCompletionTokens: 1 }),
    lora: LoraSection.parse({ rank: 16, alpha: 32 }),
  }
  const server = settings()
  const port = request.port ?? (await freePort())
  return await startEngine({
    what: 'policy server',
    boundary: 'sampler',
    command: policyCommand(server, sections, { model, port, token }),
    logPath: join(directory, 'logs', 'vllm.log'),
    records: join(directory, 'processes'),
    startTimeoutSeconds: server.startTimeoutSeconds,
  })
}

/** The process and all others of its group, one of which holds the weights, end without a chance to tidy up. */
export const kill = ({ pid }: EngineProcess): void => void process.kill(-pid, 'SIGKILL')
