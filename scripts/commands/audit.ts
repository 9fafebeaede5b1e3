import { resolve } from 'node:path'
import { loadConfig } from '../../configs/load.ts'
import type { Config } from '../../configs/schema.ts'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { writeJsonAtomic } from '../../data/store/atomic.ts'
import { auditJudge, planAudit } from '../../judge/audit/audit.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'
import { prepareAudit, type Preparation } from '../audit/prepare.ts'
import { auditFile, auditFileIn } from '../audit/report-file.ts'
import { renderAudit, renderAuditPlan } from '../audit/render.ts'
import { drawCompletions } from '../audit/samples.ts'
import { defineCommand } from '../command.ts'
import { withJudgeEngine } from '../judge-engine.ts'
import { setOption, wholeNumber } from '../options.ts'
import { findRun, loadRunConfig } from '../run-config.ts'
import { readCompletions } from '../score/given-completion.ts'
import { readPromptIndex } from '../score/prompts.ts'
import { readRollouts } from '../score/rollout-files.ts'

interface AuditArguments {
  readonly config: string | undefined
  readonly set: readonly string[]
  readonly run: string | undefined
  readonly dir: string
  readonly pool: string | undefined
  readonly completions: string | undefined
  readonly samples: number
}

type Subject = Pick<Preparation, 'config' | 'completions'> & { readonly run: RunDirectory | null }

const usage = (message: string): PipelineError =>
  new PipelineError('usage', message, { remedy: 'See drift-grpo audit --help.' })

const configOf = async ({ config, set }: AuditArguments, run: RunDirectory | null, cwd: string): Promise<Config> => {
  if (config !== undefined) return (await loadConfig({ name: config, sets: set, cwd })).config
  if (run !== null) return (await loadRunConfig(run, set)).config
  throw usage('give --config FILE, or --run RUN for the config of a run')
}

const completionsOf = async (
  { pool, completions, samples }: AuditArguments,
  run: RunDirectory | null,
  cwd: string,
): Promise<Preparation['completions']> => {
  if (run !== null) {
    const questions = await drawCompletions(readRollouts(run), await readPromptIndex(run.pool), samples)
    return { from: `rollouts of ${run.id}`, questions }
  }
  if (completions === undefined) return null
  const prompts = await readPromptIndex(resolve(cwd, pool ?? ''))
  const given = readCompletions(resolve(cwd, completions), completions)
  return { from: completions, questions: await drawCompletions(given, prompts, samples) }
}

const subjectOf = async (args: AuditArguments, cwd: string): Promise<Subject> => {
  if ((args.pool === undefined) !== (args.completions === undefined))
    throw usage('--pool FILE and --completions FILE go together')
  if (args.run !== undefined && args.completions !== undefined)
    throw usage('give --run RUN or --completions FILE, not both')
  const run = args.run === undefined ? null : await findRun(args.run, args.dir, cwd)
  return { config: await configOf(args, run, cwd), completions: await completionsOf(args, run, cwd), run }
}

const fileOf = (directory: string | undefined, run: RunDirectory | null, cwd: string): string | null => {
  if (directory !== undefined) return auditFileIn(resolve(cwd, directory))
  return run === null ? null : auditFile(run)
}

export const auditCommand = defineCommand({
  name: 'audit',
  summary: 'Put a judge to the test: doctored twins, score distribution, agreement, noise',
  options: {
    config: { type: 'string', describe: 'config with the judge; default with --run: the config of that run' },
    set: setOption('judge.model=other'),
    run: {
      type: 'string',
      describe: 'id of a run, or its path: completions for the distribution come from its rollouts',
    },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    pool: { type: 'string', describe: 'pool file with the prompts of --completions' },
    completions: { type: 'string', describe: 'file with completions for the distribution, as drift-grpo score takes' },
    samples: { ...wholeNumber('samples', 1), default: 100, describe: 'completions that are drawn from run or file' },
    repeats: { ...wholeNumber('repeats', 0), default: 20, describe: 'completions that are asked about twice' },
    short: { type: 'boolean', default: false, describe: 'one twin of each node and suite, as before a training' },
    out: { type: 'string', describe: 'directory for audit.json; default with --run: audit/ of that run' },
    json: { type: 'boolean', default: false, describe: 'print the report (or the plan) as JSON' },
    'dry-run': { type: 'boolean', default: false, describe: 'print how many questions it would ask; ask none' },
  },
  examples: [
    ['drift-grpo audit --config mine.yaml --dry-run', 'what it would cost'],
    ['drift-grpo audit --config mine.yaml --out audits/mine', 'can this judge be trusted with rewards?'],
    ['drift-grpo audit --run runs/mine', 'the judge of a run, with what its policy writes'],
  ],
  run: async (args, { cwd, env, out, interrupts }) => {
    const { config, set, run: runName, dir, pool, completions, samples, repeats } = args
    const { run, ...subject } = await subjectOf({ config, set, run: runName, dir, pool, completions, samples }, cwd)
    // One signal is enough to stop: an audit in part says nothing.
    const signal = args['dry-run'] ? undefined : interrupts('stopping').finish
    const request = prepareAudit({
      ...subject,
      ...{ repeats, form: args.short ? 'short' : 'full', surroundings: { cwd, env, signal }, say: out.progress },
    })
    const plan = planAudit(request)
    if (args['dry-run']) {
      out.data(args.json ? JSON.stringify(plan) : renderAuditPlan(plan))
      return exitCodes.ok
    }
    out.progress(`${plan.first + plan.repeats} questions, ${plan.atMost} at most`)
    const surroundings = { cwd, env, signal: signal ?? new AbortController().signal }
    const report = await withJudgeEngine(subject.config, surroundings, out.progress, () => auditJudge(request))
    out.data(args.json ? JSON.stringify(report) : renderAudit(report))
    const file = fileOf(args.out, run, cwd)
    if (file !== null) {
      await writeJsonAtomic(file, report)
      out.progress(`written to ${file}`)
    }
    return report.verdict === 'pass' ? exitCodes.ok : exitCodes.finding
  },
})
