import { PipelineError } from '../../../data/errors.ts'
import type { EvaluationStatistics } from '../../../data/records/evaluation.ts'
import type { RegressionVerdict } from '../../../data/records/regression.ts'
import type { EvaluationSummary } from '../../../data/records/run.ts'
import { analyse, areStatisticsOf } from '../analyse.ts'
import { sideOf, type RecordedEvaluation } from '../load.ts'
import { regressionVerdict } from '../regression.ts'
import { verdictLine } from '../regression-text.ts'
import { figuresOf, type Figure } from './figures.ts'
import { componentByNodeTable, taskTable, type Table } from './tables.ts'

/** Everything that a report says, before it has a form. */
export interface ReportContent {
  readonly title: string
  /** The gate's words about this very comparison, base model against trained model; null where it gives none. */
  readonly verdict: RegressionVerdict | null
  readonly headline: string
  /** Conditions, as pairs of name and value. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly notes: readonly string[]
  readonly figures: readonly Figure[]
  readonly tables: readonly Table[]
  readonly statistics: EvaluationStatistics
}

const factsOf = (run: string, summary: EvaluationSummary): [string, string][] => {
  const { decoding, rewards, all } = summary
  return [
    ['run', run],
    ['evaluation', `${summary.name}, ${summary.at}`],
    [
      'compared',
      `${summary.baseName} with ${summary.trainedName} (policy version ${summary.policyVersion}, ${summary.step} steps)`,
    ],
    ['prompts', `${all.trained.prompts} held-out prompts, set ${summary.promptSetHash.slice(0, 16)}`],
    [
      'decoding',
      `${decoding.samples} samples a prompt, temperature ${decoding.temperature}, at most ${decoding.maxTokens} tokens, seed ${decoding.seed}; the same for both models`,
    ],
    [
      'judge',
      summary.judge === 'reference' ? 'reference: grades from the targets, asks no language model' : summary.judge,
    ],
    ['reward', `profile ${rewards.profile}, at most ${summary.rewardMaximum.toFixed(2)}`],
    [
      'maxima',
      Object.entries(rewards.maxima)
        .map(([name, maximum]) => `${name} ${maximum}`)
        .join(', '),
    ],
    [
      'unscored',
      `${all.base.unscored} completions of the base, ${all.trained.unscored} of the trained model; left out of means of rewards`,
    ],
  ]
}

const notesOf = ({ resamples, seed }: EvaluationStatistics): string[] => [
  `Intervals: paired bootstrap over prompts, ${resamples} resamples, seed ${seed}, samples of a prompt averaged first; widened for few prompts. p: two-sided sign-flip test. q: p adjusted over all node × component tests (Benjamini-Hochberg).`,
  'Smallest detectable: the true change that so many prompts with this spread would show four times in five; a smaller one can be there unseen.',
  'Judge is the raw score of the judge component: where the hardened profile does not ask because a completion cannot be read, it is 0.',
]

/** A report is a description and is made even where the gate refuses a verdict, as with too few scored prompts: it then says why. */
const judged = (evaluation: RecordedEvaluation): Pick<ReportContent, 'verdict' | 'headline'> => {
  const { seed } = evaluation.summary.decoding
  try {
    const verdict = regressionVerdict(sideOf(evaluation, 'base'), sideOf(evaluation, 'trained'), { seed })
    return { verdict, headline: verdictLine(verdict) }
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error
    return { verdict: null, headline: `NO VERDICT: ${error.message}` }
  }
}

/**
 * Puts a report together from an evaluation on record. Pure: equal evaluations give equal reports. Statistics that `eval`
 * has computed of the same samples need not be computed again.
 */
export const reportContent = (
  run: string,
  evaluation: RecordedEvaluation,
  recorded: EvaluationStatistics | null = null,
): ReportContent => {
  const { summary, base, trained } = evaluation
  const { seed } = summary.decoding
  const statistics =
    recorded !== null && areStatisticsOf(recorded, base, trained, seed) ? recorded : analyse(base, trained, { seed })
  return {
    title: `Evaluation ${summary.name} of ${run}`,
    ...judged(evaluation),
    facts: factsOf(run, summary),
    notes: notesOf(statistics),
    figures: figuresOf({ summary, statistics }),
    tables: [taskTable(statistics), componentByNodeTable(statistics)],
    statistics,
  }
}
