import { join, resolve } from 'node:path'
import type { Config } from '../configs/schema.ts'
import { endOrphans } from '../trainer/supervision/child-records.ts'
import { locateModel } from '../trainer/services.ts'
import { startJudgeEngine } from '../trainer/vllm/start.ts'
import type { EngineProcess } from '../trainer/vllm-process.ts'

interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

/** Logs and records of engines that belong to no run, from the working directory. */
export const engineDirectory = join('.cache', 'vllm')

const open = async (
  { judge }: Pick<Config, 'judge'>,
  { cwd, env, signal }: Surroundings,
  say: (text: string) => void,
): Promise<EngineProcess | null> => {
  if (judge.kind !== 'llm' || judge.server === null) return null
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const directory = resolve(cwd, engineDirectory)
  const logPath = join(directory, `judge-${stamp}.log`)
  const records = join(directory, 'processes')
  for (const text of await endOrphans(records)) say(text)
  const model = await locateModel(judge.server, { cwd, env, signal, onProgress: say })
  const engine = await startJudgeEngine(judge, { model, logPath, records, cwd, env, signal, onProgress: say })
  // The judge itself notices that nobody answers any more, and waits; why that is stands here.
  engine?.gone.addEventListener('abort', () => say((engine.gone.reason as Error).message), { once: true })
  return engine
}

/**
 * Does something while the judge's vLLM runs, where the config starts one: from before the judge is reached, and before
 * anything else takes GPU memory, until all is done.
 */
export const withJudgeEngine = async <T>(
  config: Pick<Config, 'judge'>,
  surroundings: Surroundings,
  say: (text: string) => void,
  work: () => Promise<T>,
): Promise<T> => {
  const engine = await open(config, surroundings, say)
  try {
    return await work()
  } finally {
    await engine?.stop()
  }
}
