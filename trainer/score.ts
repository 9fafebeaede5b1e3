import { PipelineError } from '../data/errors.ts'
import type { RolloutGroup } from '../data/records/rollout.ts'
import type { Assessment, Scorer } from '../rewards/scorer.ts'
import type { BoundPrompt } from './bind-pool.ts'

/** A group with what was concluded about each of its completions, by completion index. */
export interface AssessedGroup {
  readonly group: RolloutGroup
  readonly assessments: readonly Assessment[]
}

/** A completion that the sampler gave up on says nothing about the policy. */
const aborted: Assessment = {
  score: { kind: 'unscored', component: 'sampler', reason: 'the sampler aborted this completion' },
  verdict: null,
}

/** Scores all completions of a group side by side; each keeps its index. One that cannot be scored is unscored, with a reason. */
export const scoreGroup = async (
  scorer: Scorer,
  { prompt }: BoundPrompt,
  group: RolloutGroup,
  signal?: AbortSignal,
): Promise<AssessedGroup> => {
  const assessments = await Promise.all(
    group.completions.map(async ({ text, finishReason }) =>
      finishReason === 'abort' ? aborted : await scorer.assess(prompt, text, signal),
    ),
  )
  return { group, assessments }
}

/** More questions stayed without a verdict than `judge.maxUnscored` allows. */
export class TooManyUnscoredError extends PipelineError {
  constructor(message: string) {
    super('judge', message, {
      remedy: 'Mend the judge and resume; verdicts that were given are kept. judge.maxUnscored sets the limit.',
    })
    this.name = 'TooManyUnscoredError'
  }
}

/** The reason that most often stands in a list. */
const commonest = (reasons: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])[0]
}

/**
 * Questions that the judge was asked, and why some stayed without a verdict. Completions that it was not asked about do not
 * count: they would hide that it answers nothing.
 */
export const unjudged = (assessments: readonly Assessment[]): { asked: number; reasons: string[] } => {
  const reasons = assessments.flatMap(({ score }) =>
    score.kind === 'unscored' && score.component === 'judge' ? [score.reason] : [],
  )
  return { asked: reasons.length + assessments.filter(({ verdict }) => verdict !== null).length, reasons }
}

/**
 * Throws when too many questions stayed without a verdict: what is left would be a biased sample. One question alone never
 * stops a run, however few there were.
 */
export const requireJudged = (scorer: Scorer, assessments: readonly Assessment[], where: string): void => {
  const most = scorer.judge?.maxUnscored ?? 1
  const { asked, reasons } = unjudged(assessments)
  if (reasons.length <= 1 || reasons.length <= most * asked) return
  throw new TooManyUnscoredError(
    `${where}: ${reasons.length} of ${asked} questions to the judge stayed without a verdict (judge.maxUnscored: ${most}); most often: ${commonest(reasons)}`,
  )
}
