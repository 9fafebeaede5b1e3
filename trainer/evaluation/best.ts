import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { EvaluationSummary } from '../../data/records/run.ts'
import { writeJsonAtomic } from '../../data/store/atomic.ts'
import { namesIn } from '../../data/store/folders.ts'
import { readJsonFile } from '../../data/store/json-file.ts'
import type { RunDirectory } from '../run-directory.ts'

/** What the best checkpoint is chosen by. Only the first one is not part of the reward that is trained on. */
export const bestMetrics = ['exactly_right', 'judge', 'reward'] as const
export type BestMetric = (typeof bestMetrics)[number]

/** best.json: the step whose evaluation during training was the best so far. */
export const Best = z.strictObject({
  step: z.int().min(0),
  policyVersion: z.int().min(0),
  /** Name below eval/. */
  evaluation: z.string(),
  metric: z.enum(bestMetrics),
  value: z.number(),
})
export type Best = z.infer<typeof Best>

const metricOf: Readonly<Record<BestMetric, (summary: EvaluationSummary) => number | null>> = {
  exactly_right: ({ all }) => all.trained.exactlyRight,
  judge: ({ all }) => all.trained.judge,
  reward: ({ all }) => all.trained.reward,
}

/** Name of the evaluation after so many steps. */
export const stepEvaluation = (step: number): string => `step-${String(step).padStart(6, '0')}`
const stepPattern = /^step-(\d{6,})$/

const stepEvaluations = async (run: RunDirectory): Promise<{ name: string; step: number }[]> => {
  return (await namesIn(run.at('eval'))).flatMap((name) => {
    const step = stepPattern.exec(name)?.[1]
    return step === undefined ? [] : [{ name, step: Number(step) }]
  })
}

/** Null where the evaluation was not finished. */
const readSummary = (run: RunDirectory, name: string): Promise<EvaluationSummary | null> =>
  readJsonFile(join(run.evaluation(name), 'summary.json'), EvaluationSummary, {
    boundary: 'checkpoint',
    remedy: `Remove ${run.evaluation(name)}; drift-grpo eval makes another one.`,
  })

/** Evaluations of other prompts, with other samples or by another judge are no rivals. */
const conditionsOf = ({ promptSetHash, targetSetHash, judge, rewards, decoding }: EvaluationSummary): string =>
  JSON.stringify([promptSetHash, targetSetHash, judge, rewards.hash, decoding])

/** The best of the evaluations during training that are like the newest one; of equals the earliest. Null without any. */
export const findBest = async (run: RunDirectory, metric: BestMetric): Promise<Best | null> => {
  const found = (await stepEvaluations(run)).toSorted((a, b) => a.step - b.step)
  const summaries = (await Promise.all(found.map(({ name }) => readSummary(run, name)))).filter((one) => one !== null)
  const newest = summaries.at(-1)
  if (newest === undefined) return null
  let best: Best | null = null
  for (const summary of summaries.filter((one) => conditionsOf(one) === conditionsOf(newest))) {
    const value = metricOf[metric](summary)
    if (value === null || (best !== null && value <= best.value)) continue
    best = { step: summary.step, policyVersion: summary.policyVersion, evaluation: summary.name, metric, value }
  }
  return best
}

const bestFile = (run: RunDirectory): string => run.at('best.json')

export const writeBest = (run: RunDirectory, best: Best): Promise<void> => writeJsonAtomic(bestFile(run), best)

/** Null where no evaluation during training chose one. */
export const readBest = (run: RunDirectory): Promise<Best | null> =>
  readJsonFile(bestFile(run), Best, {
    boundary: 'checkpoint',
    remedy: 'Remove it; the next evaluation during training writes it anew.',
  })

/** A resumed run makes the steps after its checkpoint again: what was concluded from them goes. */
export const forgetLaterEvaluations = async (
  run: RunDirectory,
  nextStep: number,
  metric: BestMetric,
): Promise<void> => {
  const later = (await stepEvaluations(run)).filter(({ step }) => step > nextStep)
  for (const { name } of later) await rm(run.evaluation(name), { recursive: true, force: true })
  if (later.length === 0) return
  const best = await findBest(run, metric)
  if (best === null) await rm(bestFile(run), { force: true })
  else await writeBest(run, best)
}
