import { resolve } from 'node:path'
import { loadConfig } from '../../configs/load.ts'
import type { Config } from '../../configs/schema.ts'
import { longestSeconds } from '../../data/duration.ts'
import { exitCodes } from '../../data/errors.ts'
import { openPool, type PoolSurroundings } from '../../data/pool/open.ts'
import { readPool } from '../../data/pool/pool-file.ts'
import type { Prompt } from '../../data/records/prompt.ts'
import { createJudge } from '../../judge/create.ts'
import { noticeText } from '../../judge/judge.ts'
import { rewardMaximum } from '../../rewards/config.ts'
import { createRewardApp } from '../../rewards/service/app.ts'
import { serveRewards, type RewardServer } from '../../rewards/service/server.ts'
import { defaultStopTokens } from '../../rewards/service/stop-tokens.ts'
import { accessFor } from '../access.ts'
import { defineCommand } from '../command.ts'
import { withJudgeEngine } from '../judge-engine.ts'
import { untilAborted, type Interrupts } from '../interrupts.ts'
import { portOption, setOption, wholeNumber } from '../options.ts'
import { rewardTokenVariable } from '../train-service.ts'

const tokenRemedy = `Give --token TOKEN, or set ${rewardTokenVariable}.`

/** The prompts that requests may name by id. */
const promptsOf = async (
  config: Config,
  file: string | undefined,
  surroundings: PoolSurroundings,
): Promise<ReadonlyMap<string, Prompt>> => {
  const prompts = new Map<string, Prompt>()
  if (file !== undefined) for await (const prompt of readPool(file)) prompts.set(prompt.id, prompt)
  else {
    const { train, heldout } = await openPool(config.pool, config.prompts.examples, surroundings)
    for (const prompt of [...train, ...heldout]) prompts.set(prompt.id, prompt)
  }
  return prompts
}

/** Says each problem once while it lasts: a trainer that tries again and again would say the same for ever. */
const sayOnce = (say: (text: string) => void) => {
  let last = ''
  return (text: string, cause: unknown): void => {
    const line = cause instanceof Error ? `${text} (${cause.message})` : text
    if (line !== last) say(line)
    last = line
  }
}

/** Serves until the first signal, then lets requests in flight finish; a second signal cuts them. */
const serveUntilStopped = async (server: RewardServer, { finish, abort }: Interrupts): Promise<void> => {
  await untilAborted(finish)
  if (abort.aborted) server.abort()
  abort.addEventListener('abort', () => server.abort(), { once: true })
  await server.close()
}

export const serveRewardsCommand = defineCommand({
  name: 'serve-rewards',
  summary: 'Score completions over HTTP, for other trainers: OpenRLHF, slime, NeMo-Gym, TRL',
  options: {
    config: {
      type: 'string',
      demandOption: true,
      describe: 'config file; its rewards, judge and pool are what is served',
    },
    set: setOption('judge.kind=none'),
    host: { type: 'string', default: '127.0.0.1', describe: 'address to listen on; other than loopback needs a token' },
    port: { ...portOption('port'), default: 8200, describe: 'port to listen on; 0 takes a free one' },
    token: { type: 'string', describe: `token that clients must send; default: ${rewardTokenVariable}, else none` },
    pool: {
      type: 'string',
      describe: 'pool file with the prompts that requests may name by id; default: the config’s pool',
    },
    inline: { type: 'boolean', default: false, describe: 'open no pool: every request brings its own prompts' },
    'stop-token': {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      default: [...defaultStopTokens],
      describe: 'text to cut from the end of what OpenRLHF, slime and NeMo-Gym send',
    },
    'max-body': { ...wholeNumber('max-body', 1), default: 32, describe: 'largest request, in MiB' },
    timeout: {
      ...wholeNumber('timeout', 1, longestSeconds),
      default: 100,
      describe: 'longest wait for a verdict, in seconds',
    },
  },
  examples: [
    ['drift-grpo serve-rewards --config tiny.yaml', 'on http://127.0.0.1:8200; prints the address'],
    ['drift-grpo serve-rewards --config tiny.yaml --set judge.kind=none --inline', 'the structural rewards only'],
    ['drift-grpo serve-rewards --config tiny.yaml --host 0.0.0.0 --token SECRET', 'for trainers on other machines'],
  ],
  run: async (args, { cwd, env, out, interrupts }) => {
    const access = accessFor(args.host, args.token ?? env[rewardTokenVariable], tokenRemedy)
    const { config } = await loadConfig({ name: args.config, sets: args.set, cwd })
    const signals = interrupts('finishing the requests in flight')
    if (!args.inline) out.progress('opening the pool')
    const prompts = args.inline
      ? new Map<string, Prompt>()
      : await promptsOf(config, args.pool === undefined ? undefined : resolve(cwd, args.pool), {
          ...{ cwd, env, signal: signals.finish, onProgress: out.progress },
        })
    await withJudgeEngine(config, { cwd, env, signal: signals.finish }, out.progress, async () => {
      const judge = await createJudge(config.judge, { cwd, env, signal: signals.finish })
      judge?.watch?.((notice) => out.progress(noticeText(notice)))
      try {
        const app = createRewardApp({
          rewards: config.rewards,
          judge,
          findPrompt: (id) => prompts.get(id),
          access,
          stopTokens: args['stop-token'],
          maxBodyBytes: args['max-body'] * 2 ** 20,
          timeoutMs: args.timeout * 1000,
          onProblem: sayOnce(out.progress),
        })
        const server = await serveRewards(app, { host: args.host, port: args.port })
        const best = rewardMaximum(config.rewards, judge !== null).toFixed(2)
        out.progress(
          `${prompts.size} prompts, profile ${config.rewards.profile}, judge ${judge?.name ?? 'none'}, R is at most ${best}`,
        )
        out.data(server.url)
        await serveUntilStopped(server, signals)
      } finally {
        await judge?.close()
      }
    })
    return exitCodes.ok
  },
})
