import { basename, resolve } from 'node:path'
import process from 'node:process'
import { loadConfig } from '../../configs/load.ts'
import type { Provenance } from '../../configs/resolve.ts'
import type { Config } from '../../configs/schema.ts'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { openPool, type OpenPool } from '../../data/pool/open.ts'
import { Prompt } from '../../data/records/prompt.ts'
import { createJudge } from '../../judge/create.ts'
import { checkPoolSize } from '../../trainer/bind-pool.ts'
import { renderEvaluation } from '../../trainer/evaluation-table.ts'
import { findModel, type FoundModel } from '../../trainer/services.ts'
import type { MemoryPlan } from '../../trainer/memory/plan.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { runTraining, type TrainingOutcome } from '../../trainer/train.ts'
import { auditBeforeTraining, auditWarnings, storeAudit } from '../audit/before-training.ts'
import { defineCommand, type CommandContext } from '../command.ts'
import { finishedOutcome } from '../finished-run.ts'
import { withJudgeEngine } from '../judge-engine.ts'
import { portOption, setOption } from '../options.ts'
import { gatherFacts } from '../plan/gather.ts'
import { gatherMemoryPlan, renderMemoryPlan } from '../plan/memory.ts'
import { makePlan, type Plan } from '../plan/plan.ts'
import { renderConfig, renderPlan } from '../plan/render.ts'
import { preflight } from '../preflight.ts'
import { dashboardVariable, withDashboard } from '../train-dashboard.ts'
import { exportsOf } from '../train-exports.ts'
import { withRewardService } from '../train-service.ts'
import { findNewestRun, findRun, loadRunConfig, requireChangeable, storeRunConfig } from '../run-config.ts'

/** What is to be trained, and from what. */
interface Job {
  readonly config: Config
  readonly provenance: Provenance
  readonly name: string
  readonly text: string | null
  readonly resume: string | null
}

interface TrainArguments {
  readonly config: string | undefined
  readonly set: readonly string[]
  readonly resume: string | undefined
  readonly dir: string | undefined
  readonly dryRun: boolean
}

/** A new run has its config from a file; a continued one from its own directory. */
const chooseJob = async (args: TrainArguments, { cwd, out }: CommandContext): Promise<Job> => {
  const sets = [...args.set, ...(args.dir === undefined ? [] : [`run.dir=${JSON.stringify(args.dir)}`])]
  if (args.resume !== undefined) {
    requireChangeable(args.set)
    const runsDir = args.dir ?? 'runs'
    const run =
      args.resume === '' ? await findNewestRun(runsDir, cwd, out.progress) : await findRun(args.resume, runsDir, cwd)
    const { config, provenance } = await loadRunConfig(run, args.set)
    if (args.set.length > 0 && !args.dryRun) await storeRunConfig(run, { config, provenance })
    return { config, provenance, name: run.id, text: null, resume: run.id }
  }
  if (args.config === undefined) {
    throw new PipelineError('usage', 'give --config FILE for a new run, or --resume [RUN] for one to continue', {
      remedy: 'See train --help.',
    })
  }
  const { config, provenance, file, text } = await loadConfig({ name: args.config, sets, cwd })
  return { config, provenance, name: basename(file), text, resume: null }
}

/** One order of keys for prompts, wherever they come from: the identity of a pool is taken over them as they are. */
const allPrompts = (pool: OpenPool): Prompt[] => [...pool.train, ...pool.heldout].map((prompt) => Prompt.parse(prompt))

const runOf = ({ config, resume }: Job, cwd: string): RunDirectory =>
  new RunDirectory(resolve(cwd, config.run.dir), resume ?? '')

const poolName = (pool: Config['pool']): string => {
  if (pool.kind === 'world') return 'from the simulated world'
  return pool.kind === 'file' ? pool.path : `${pool.repo}@${pool.revision} of the hub`
}

/** The pool; null where a dry run would have to fetch it: a dry run has what the cache has, and asks nobody. */
const takePool = async (
  { pool, prompts }: Config,
  dryRun: boolean,
  { cwd, env, out }: CommandContext,
): Promise<OpenPool | null> => {
  const open = (environment: NodeJS.ProcessEnv): Promise<OpenPool> =>
    openPool(pool, prompts.examples, { cwd, env: environment, onProgress: out.progress })
  if (!dryRun || pool.kind !== 'hub') return await open(env)
  return await open({ ...env, HF_HUB_OFFLINE: '1' }).catch((error: unknown) => {
    if (!(error instanceof PipelineError) || error.boundary !== 'setup') throw error
    out.progress(`pool: ${poolName(pool)} is not in the cache; how long an epoch is, is not known`)
    return null
  })
}

const planFor = async (config: Config, pool: OpenPool | null, cwd: string): Promise<Plan> => {
  if (pool === null) return makePlan(config, await gatherFacts(config, null, cwd))
  // Counted again once it is known how many fit the model; what is short already is said before anything is started.
  checkPoolSize({ train: pool.train.length, heldout: pool.heldout.length }, config)
  const planned = makePlan(config, await gatherFacts(config, pool.train.length, cwd))
  return { ...planned, warnings: [...pool.warnings, ...planned.warnings] }
}

const tellPlan = (job: Job, plan: Plan, gpuMemory: MemoryPlan | null, json: boolean, { out }: CommandContext): void => {
  const { config, provenance } = job
  if (json) out.data(JSON.stringify({ config, provenance, plan, gpuMemory }))
  else {
    // The values are many: what they come to is read first.
    const memory = gpuMemory === null ? [] : [renderMemoryPlan(gpuMemory)]
    out.data([renderPlan(plan), ...memory, renderConfig(config, provenance)].join('\n\n'))
  }
  out.progress('dry run: nothing was written or started')
}

const tellOutcome = (outcome: TrainingOutcome, json: boolean, { out }: CommandContext): void => {
  if (json) out.data(JSON.stringify(outcome))
  else if (outcome.evaluation !== null) out.data(renderEvaluation(outcome.evaluation))
  out.progress(`${outcome.kind} after step ${outcome.step} of ${outcome.steps}: ${outcome.directory}`)
  if (outcome.adapter !== null) out.progress(`adapter of policy version ${outcome.policyVersion}: ${outcome.adapter}`)
  if (outcome.resumeWith !== null) out.progress(`continue with: npx train --resume ${outcome.directory}`)
}

/** A misspelt path may look like a hub name: what is done with it is said before the worker tries. */
const tellModel = ({ kind, location, lookedIn }: FoundModel, { out }: CommandContext): void => {
  if (kind === 'directory') return
  out.progress(`model.path: no directory ${lookedIn.join(' or ')}: ${location} is taken for the name of a hub model`)
}

const onInterrupt = 'stopping when the current step is done and saved'

interface Prepared {
  readonly job: Job
  readonly pool: OpenPool
  readonly warnings: readonly string[]
}

interface TrainOptions {
  readonly json: boolean
  readonly dashboard: boolean
  readonly rewardsPort: number | undefined
}

/** Trains with everything that runs beside it: judge, exports, dashboard, reward service. */
const train = async (
  { job, pool, warnings }: Prepared,
  options: TrainOptions,
  context: CommandContext,
): Promise<void> => {
  const { config } = job
  const { cwd, out } = context
  const { finish: stop, abort } = context.interrupts(onInterrupt)
  const surroundings = { cwd, env: context.env, signal: stop }
  await withJudgeEngine(config, surroundings, out.progress, async () => {
    // A continued run has the judge that it was audited with.
    const audit = job.resume === null ? await auditBeforeTraining(config, surroundings, out.progress) : null
    const judge = await createJudge(config.judge, surroundings)
    try {
      const prompts = allPrompts(pool)
      const { onOpened, onEnding } = await exportsOf({ config, env: context.env, say: out.progress, signal: stop })
      const isWanted = options.dashboard && context.env[dashboardVariable] !== 'off'
      const training = (show: (run: RunDirectory) => void): Promise<TrainingOutcome> =>
        runTraining({
          config,
          pool: prompts,
          warnings: [...warnings, ...auditWarnings(audit)],
          onOpened: async (run) => {
            await storeAudit(run, audit)
            show(run)
            await onOpened?.(run)
          },
          onEnding,
          judge,
          source: { name: job.name, text: job.text, values: config, provenance: job.provenance },
          ...{ resume: job.resume, stop, abort, cwd },
          progress: process.stderr,
          onStart: context.trainingStarted,
        })
      const port = options.rewardsPort
      const service = { rewards: config.rewards, judge, pool: prompts, env: context.env, say: out.progress, abort }
      const outcome = await withDashboard({ isWanted, say: out.progress }, (show) =>
        port === undefined ? training(show) : withRewardService({ ...service, port }, () => training(show)),
      )
      tellOutcome(outcome, options.json, context)
    } finally {
      await judge?.close()
    }
  })
}

export const trainCommand = defineCommand({
  name: 'train',
  summary: 'Train an adapter as a config says, or continue a run',
  options: {
    config: { type: 'string', describe: 'config file; a bare name is also looked up among the shipped ones' },
    set: setOption('grpo.beta=0.02'),
    resume: {
      type: 'string',
      describe: 'continue this run (id or path); without a value, the newest that is neither finished nor in use',
    },
    dir: { type: 'string', describe: 'directory of the runs; default: run.dir of the config' },
    'dry-run': { type: 'boolean', default: false, describe: 'print the resolved config and the plan; write nothing' },
    'serve-rewards': {
      ...portOption('serve-rewards'),
      describe: 'port on 127.0.0.1 where others may have their completions scored meanwhile; 0 takes a free one',
    },
    dashboard: {
      type: 'boolean',
      default: true,
      describe: `show it in the browser meanwhile; --no-dashboard, or ${dashboardVariable}=off, does not`,
    },
    json: { type: 'boolean', default: false, describe: 'print the outcome (or the plan) as JSON' },
  },
  examples: [
    ['train --config tiny.yaml', 'the toy base on the simulated world'],
    ['train --config tiny.yaml --set run.steps=20 --dry-run', 'what it would do'],
    ['train --resume', 'continue the newest run that was stopped'],
  ],
  run: async (args, context) => {
    const { cwd, out } = context
    const chosen = {
      config: args.config,
      set: args.set,
      resume: args.resume,
      dir: args.dir,
      dryRun: args['dry-run'],
    }
    const job = await chooseJob(chosen, context)
    const { config } = job
    const done = job.resume === null ? null : await finishedOutcome(runOf(job, cwd), config.run.steps)
    if (done !== null) {
      tellOutcome(done, args.json, context)
      return exitCodes.ok
    }
    // The cheapest faults first: nobody should wait for a pool to hear that the model is not there.
    if (config.worker.kind === 'spawn') tellModel(findModel(config.model.path, cwd), context)
    // Nothing is under way yet: Ctrl-C simply ends the program here.
    const missing = args['dry-run']
      ? []
      : await preflight(config, { cwd, env: context.env, signal: new AbortController().signal })
    const dryRun = args['dry-run']
    if (!dryRun) out.progress(`pool: ${poolName(config.pool)}`)
    const pool = await takePool(config, dryRun, context)
    const plan = await planFor(config, pool, cwd)
    if (pool === null || dryRun) {
      const gpuMemory = await gatherMemoryPlan(config, cwd)
      tellPlan(job, plan, gpuMemory, args.json, context)
      return gpuMemory === null || gpuMemory.problems.length === 0 ? exitCodes.ok : exitCodes.preflight
    }

    const warnings = [...missing, ...plan.warnings]
    const options = { json: args.json, dashboard: args.dashboard, rewardsPort: args['serve-rewards'] }
    await train({ job, pool, warnings }, options, context)
    return exitCodes.ok
  },
})
