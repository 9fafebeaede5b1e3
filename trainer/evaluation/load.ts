import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PipelineError } from '../../data/errors.ts'
import { EvaluationStatistics } from '../../data/records/evaluation.ts'
import { EvaluationSample, EvaluationSummary } from '../../data/records/run.ts'
import { readJsonFile } from '../../data/store/json-file.ts'
import { readRecords } from '../../data/store/jsonl.ts'

/** The two models of an evaluation. */
export const sideNames = ['base', 'trained'] as const
export type SideName = (typeof sideNames)[number]

/** Of several evaluations of a run that of its end says most, then that of the held-out prompts. */
export const mainEvaluations: readonly string[] = ['final', 'heldout']

/** One evaluation on record. */
export interface RecordedEvaluation {
  readonly directory: string
  readonly summary: EvaluationSummary
  readonly base: readonly EvaluationSample[]
  readonly trained: readonly EvaluationSample[]
}

/** One model's samples with the conditions that they were taken under. */
export interface EvaluationSide {
  /** What people are shown. */
  readonly label: string
  readonly side: SideName
  readonly summary: EvaluationSummary
  readonly samples: readonly EvaluationSample[]
}

const damage = { boundary: 'usage', remedy: 'Make it anew: drift-grpo eval --run RUN.' } as const

const unreadable = (path: string, detail: string): PipelineError =>
  new PipelineError('usage', `${path} is not a whole evaluation: ${detail}`, damage)

/** Reads summary.json of an evaluation's directory. */
export const readSummary = async (directory: string): Promise<EvaluationSummary> => {
  const summary = await readJsonFile(join(directory, 'summary.json'), EvaluationSummary, damage)
  if (summary !== null) return summary
  throw new PipelineError('usage', `${directory} holds no finished evaluation: there is no summary.json`, damage)
}

/** The statistics that were written with an evaluation; null where there are none, or others than this version writes. */
export const readStatistics = async (directory: string): Promise<EvaluationStatistics | null> => {
  try {
    return EvaluationStatistics.parse(JSON.parse(await readFile(join(directory, 'statistics.json'), 'utf8')))
  } catch {
    // They follow from the samples, and can be computed again.
    return null
  }
}

const readSamples = async (directory: string, side: SideName): Promise<EvaluationSample[]> => {
  const path = join(directory, `${side}.jsonl`)
  const samples: EvaluationSample[] = []
  try {
    for await (const sample of readRecords(path, EvaluationSample, damage)) samples.push(sample)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw unreadable(path, 'it is missing')
  }
  return samples
}

/** Fewer samples than the summary counts: a copy that broke off, and no basis for a verdict. */
const requireWhole = ({ directory, summary, base, trained }: RecordedEvaluation): void => {
  const counts = { base, trained }
  for (const side of sideNames) {
    const [have, wanted] = [counts[side].length, summary.all[side].samples]
    if (have !== wanted)
      throw unreadable(join(directory, `${side}.jsonl`), `it has ${have} samples, its summary counts ${wanted}`)
  }
}

/** Reads an evaluation's directory. Throws a PipelineError when it is none, or not whole. */
export const loadEvaluation = async (directory: string): Promise<RecordedEvaluation> => {
  const summary = await readSummary(directory)
  const [base, trained] = [await readSamples(directory, 'base'), await readSamples(directory, 'trained')]
  const evaluation = { directory, summary, base, trained }
  requireWhole(evaluation)
  return evaluation
}

/** One side of an evaluation. */
export const sideOf = ({ directory, summary, ...samples }: RecordedEvaluation, side: SideName): EvaluationSide => ({
  label: `${directory} (${side === 'base' ? summary.baseName : summary.trainedName})`,
  side,
  summary,
  samples: samples[side],
})
