import { onTestFinished } from 'vitest'
import { JudgeConfig, type LlmJudgeConfig } from '../../../judge/config.ts'
import type { JudgeNotice, OpenJudge } from '../../../judge/judge.ts'
import { openLlmJudge } from '../../../judge/llm/open.ts'
import { JudgeServer, type JudgeServerOptions } from '../../support/judge-server.ts'

type Settings = Readonly<Record<string, unknown>>

/** A config whose waits are short. */
export const judgeConfig = (url: string, settings: Settings = {}): LlmJudgeConfig => {
  const config = JudgeConfig.parse({
    ...{ kind: 'llm', baseUrl: url, model: 'judge', cache: { dir: null } },
    breaker: { failures: 5, pauseSeconds: 0.02 },
    ...settings,
  })
  if (config.kind !== 'llm') throw new Error('not a config of a judge that asks')
  return config
}

export interface Setting {
  readonly server: JudgeServer
  readonly judge: OpenJudge
  readonly notices: JudgeNotice[]
}

/** Opens a judge on a config; both go when the test ends. */
export const openJudge = async (config: LlmJudgeConfig, cwd = '/'): Promise<Omit<Setting, 'server'>> => {
  const judge = await openLlmJudge(config, { cwd, env: {}, firstBackoffMs: 1 })
  onTestFinished(() => judge.close())
  const notices: JudgeNotice[] = []
  judge.watch?.((notice) => notices.push(notice))
  return { judge, notices }
}

/** A server that behaves as told, and a judge that asks it. */
export const setUp = async (options: JudgeServerOptions = {}, settings: Settings = {}): Promise<Setting> => {
  const server = await JudgeServer.start(options)
  onTestFinished(() => server.close())
  return { server, ...(await openJudge(judgeConfig(server.url, settings))) }
}
