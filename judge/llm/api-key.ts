import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LlmJudgeConfig } from '../config.ts'
import { JudgeError } from '../judge.ts'

export interface KeySurroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Sent where an endpoint asks for no key: the client insists on one. */
const noKey = 'none'

const readKeyFile = async (file: string): Promise<string> => {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new JudgeError(`judge.apiKeyFile: ${file} cannot be read`, {
      remedy: 'Correct judge.apiKeyFile, or the rights of that file.',
      cause: error,
    })
  }
}

/** Reads the API key from where the config says; rejects with a JudgeError when there is none. The key is never logged. */
export const readApiKey = async (config: LlmJudgeConfig, { cwd, env }: KeySurroundings): Promise<string> => {
  if (config.apiKeyFile !== null) {
    const file = resolve(cwd, config.apiKeyFile)
    const key = await readKeyFile(file)
    if (key === '') throw new JudgeError(`judge.apiKeyFile: ${file} is empty`, { remedy: 'Write the key into it.' })
    return key
  }
  if (config.apiKeyEnv === null) return noKey
  const key = env[config.apiKeyEnv]?.trim() ?? ''
  if (key === '')
    throw new JudgeError(`judge.apiKeyEnv: the environment variable ${config.apiKeyEnv} is not set`, {
      remedy: `Set ${config.apiKeyEnv} to the key, or name another variable.`,
    })
  return key
}
