import { resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { regressionLevels, type RegressionLevel } from '../../data/records/regression.ts'
import { writeFileAtomic, writeJsonAtomic } from '../../data/store/atomic.ts'
import { findEvaluation, type NamedEvaluation, type Surroundings } from '../../trainer/evaluation/find-side.ts'
import { loadEvaluation, sideOf, type EvaluationSide } from '../../trainer/evaluation/load.ts'
import { defaultAlpha, defaultFailOn, regressionVerdict } from '../../trainer/evaluation/regression.ts'
import { junitVerdict } from '../../trainer/evaluation/regression-junit.ts'
import { renderVerdict } from '../../trainer/evaluation/regression-text.ts'
import { defineCommand } from '../command.ts'
import { wholeNumber } from '../options.ts'

const decimalOption = (name: string) =>
  ({
    type: 'number',
    requiresArg: true,
    coerce: (value: number): number => {
      if (Number.isFinite(value)) return value
      throw new PipelineError('usage', `--${name}: not a number`)
    },
  }) as const

/**
 * The two models. Without `--base`: the base model of the evaluation that `trained` names. Without a side: the trained model,
 * except of an evaluation that is compared with itself.
 */
const chooseSides = async (
  base: string | undefined,
  trained: string,
  surroundings: Surroundings,
): Promise<{ readonly base: EvaluationSide; readonly trained: EvaluationSide }> => {
  const after = await findEvaluation(trained, surroundings)
  const before: NamedEvaluation =
    base === undefined ? { directory: after.directory, side: 'base' } : await findEvaluation(base, surroundings)
  const isSame = before.directory === after.directory
  return {
    base: sideOf(await loadEvaluation(before.directory), before.side ?? (isSame ? 'base' : 'trained')),
    trained: sideOf(await loadEvaluation(after.directory), after.side ?? 'trained'),
  }
}

export const regressCommand = defineCommand({
  name: 'regress',
  summary: 'Say whether a trained model fell behind another one; exit code 10 when it did',
  options: {
    base: {
      type: 'string',
      requiresArg: true,
      describe: 'run, evaluation or adapter to compare with; default: the base model that --trained was compared with',
    },
    trained: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'run, evaluation or adapter to judge; @base or @trained at the end names one of its two models',
    },
    'fail-on': {
      choices: regressionLevels,
      array: true,
      default: [...defaultFailOn] as RegressionLevel[],
      describe: 'what to look for a fall in',
    },
    'min-delta': {
      ...decimalOption('min-delta'),
      describe: 'a fall up to this counts as none; default: 2 % of each maximum',
    },
    alpha: {
      ...decimalOption('alpha'),
      default: defaultAlpha,
      describe: 'chance that models which do not differ fail, over all tests together',
    },
    seed: { ...wholeNumber('seed', 0), default: 0, describe: 'of the random sign patterns and the intervals' },
    evaluation: { type: 'string', requiresArg: true, describe: 'name below eval/, where runs have several' },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    junit: { type: 'string', requiresArg: true, describe: 'also write the verdict there as JUnit XML' },
    out: { type: 'string', requiresArg: true, describe: 'also write the verdict there as JSON' },
    json: { type: 'boolean', default: false, describe: 'print the verdict as JSON' },
  },
  examples: [
    ['drift-grpo regress --trained runs/new', 'a run against its own base model'],
    ['drift-grpo regress --base runs/old --trained runs/new', 'two runs, each by its evaluation at the end'],
    [
      'drift-grpo regress --base runs/old --trained runs/new --fail-on component --alpha 0.01',
      'every component at every node',
    ],
  ],
  run: async (args, { cwd, out }) => {
    const surroundings = { cwd, runsDir: resolve(cwd, args.dir), evaluation: args.evaluation }
    const { base, trained } = await chooseSides(args.base, args.trained, surroundings)
    const failOn = args['fail-on']
    const isDefault = failOn.length === defaultFailOn.length && failOn.every((level, i) => level === defaultFailOn[i])
    const verdict = regressionVerdict(base, trained, {
      failOn: isDefault ? defaultFailOn : failOn,
      minDelta: args['min-delta'],
      alpha: args.alpha,
      seed: args.seed,
    })
    if (args.junit !== undefined) await writeFileAtomic(resolve(cwd, args.junit), `${junitVerdict(verdict)}\n`)
    if (args.out !== undefined) await writeJsonAtomic(resolve(cwd, args.out), verdict)
    out.data(args.json ? JSON.stringify(verdict) : renderVerdict(verdict))
    return verdict.verdict === 'pass' ? exitCodes.ok : exitCodes.finding
  },
})
