import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { EvaluationStatistics } from '../../data/records/evaluation.ts'
import { EvaluationSample, EvaluationSummary } from '../../data/records/run.ts'
import { readJsonl } from '../../data/store/jsonl.ts'

/** The two models of an evaluation. */
export const sideNames = ['base', 'trained'] as const
export type SideName = (typeof sideNames)[number]

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

const unreadable = (path: string, detail: string): PipelineError =>
  new PipelineError('usage', `${path} is not an evaluation that this version wrote: ${detail}`, {
    remedy: 'Make it again: drift-grpo eval --run RUN.',
  })

/** Reads summary.json of an evaluation's directory. */
export const readSummary = async (directory: string): Promise<EvaluationSummary> => {
  const path = join(directory, 'summary.json')
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new PipelineError('usage', `${directory} holds no finished evaluation: there is no summary.json`, {
      remedy: 'Make one: drift-grpo eval --run RUN.',
      cause: error,
    })
  }
  try {
    return EvaluationSummary.parse(JSON.parse(text))
  } catch (error) {
    throw unreadable(path, error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message)
  }
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
    for await (const line of readJsonl(path)) samples.push(EvaluationSample.parse(line))
  } catch (error) {
    throw unreadable(path, error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message)
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
