import { resolve } from 'node:path'
import { loadConfig } from '../../configs/load.ts'
import type { Config } from '../../configs/schema.ts'
import { PipelineError } from '../../data/errors.ts'
import { JudgeConfig } from '../../judge/config.ts'
import { createJudge } from '../../judge/create.ts'
import { noticeText } from '../../judge/judge.ts'
import { referenceJudge } from '../../judge/reference.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import {
  askAnew,
  createRescorer,
  fromRecord,
  recordElseAsk,
  type Rescorer,
  type VerdictSource,
} from '../../rewards/rescore.ts'
import { findRun, loadRunConfig } from '../run-config.ts'
import { readCompletions, type GivenCompletion } from './given-completion.ts'
import { readPromptIndex, type PromptIndex } from './prompts.ts'
import { readRollouts } from './rollout-files.ts'

export interface ScoreArguments {
  readonly against: string | undefined
  readonly pool: string | undefined
  readonly completions: string | undefined
  readonly config: string | undefined
  readonly set: readonly string[]
  readonly dir: string
}

/** What is to be scored, under which rules. */
export interface ScoreJob {
  /** The run or the file, as reports call it. */
  readonly source: string
  readonly profile: RewardsConfig['profile']
  readonly judge: string
  readonly rescorer: Rescorer
  readonly prompts: PromptIndex
  readonly completions: AsyncIterable<GivenCompletion>
  /** Lets go of a judge that was reached. */
  readonly close: () => Promise<void>
}

interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Told what people should know on the way. */
  readonly say: (text: string) => void
}

type Rules = Pick<Config, 'rewards' | 'judge'>

const usage = (message: string): PipelineError =>
  new PipelineError('usage', message, { remedy: 'See drift-grpo score --help.' })

/**
 * The verdicts of a run that is scored again. The judge that reads targets is code of this repository, and is asked
 * again; what any other judge said stands in the record, and is taken from there.
 */
const runVerdicts: Record<JudgeConfig['kind'], VerdictSource | null> = {
  reference: askAnew(referenceJudge),
  llm: fromRecord,
  none: null,
}

const jobOfRun = async (name: string, { set, dir }: ScoreArguments, cwd: string): Promise<ScoreJob> => {
  const run = await findRun(name, dir, cwd)
  const { config } = await loadRunConfig(run, set)
  return {
    source: run.root,
    profile: config.rewards.profile,
    judge: config.judge.kind === 'llm' ? `verdicts as recorded (${config.judge.model})` : config.judge.kind,
    rescorer: createRescorer(config.rewards, runVerdicts[config.judge.kind]),
    prompts: await readPromptIndex(run.pool),
    completions: readRollouts(run),
    close: async () => undefined,
  }
}

/** The rules of a config, or the defaults of both sections where there is none. */
const rulesOf = async ({ config: name, set }: ScoreArguments, cwd: string): Promise<Rules> => {
  if (name !== undefined) return (await loadConfig({ name, sets: set, cwd })).config
  if (set.length > 0) throw usage('--set changes a config: give --config FILE too')
  return { rewards: RewardsConfig.parse({}), judge: JudgeConfig.parse(undefined) }
}

const jobOfFiles = async (args: ScoreArguments, { cwd, env, say }: Place): Promise<ScoreJob> => {
  const { pool, completions } = args
  if (pool === undefined || completions === undefined)
    throw usage('give --pool FILE with --completions FILE, or --against RUN')
  const { rewards, judge: judgeConfig } = await rulesOf(args, cwd)
  const index = await readPromptIndex(resolve(cwd, pool))
  const judge = await createJudge(judgeConfig, { cwd, env })
  judge?.watch?.((notice) => say(noticeText(notice)))
  return {
    source: resolve(cwd, completions),
    profile: rewards.profile,
    judge: judge?.name ?? 'none',
    rescorer: createRescorer(rewards, judge === null ? null : recordElseAsk(judge)),
    prompts: index,
    completions: readCompletions(resolve(cwd, completions), completions),
    close: async () => await judge?.close(),
  }
}

/** Finds what a command line asks to score, and reads its prompts. */
export const openScoreJob = async (args: ScoreArguments, place: Place): Promise<ScoreJob> => {
  if (args.against === undefined) return await jobOfFiles(args, place)
  if (args.pool !== undefined || args.completions !== undefined || args.config !== undefined)
    throw usage('--against RUN brings its own prompts, completions and config; values can be changed with --set')
  return await jobOfRun(args.against, args, place.cwd)
}
