import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { RolloutRecord } from '../../data/records/run.ts'
import type { RolloutIndex } from './rollouts/index-run.ts'
import type { OpenRun } from './runs.ts'
import type { GroupDetail, GroupPlace } from './view.ts'

const placesOf = (index: RolloutIndex, promptId: string): GroupPlace[] => {
  const { columns } = index
  const wanted = columns.promptNumber(promptId)
  const places = new Map<string, { step: number; group: number; sum: number; n: number }>()
  for (let row = 0; row < columns.count; row++) {
    if (columns.of.prompt.data[row] !== wanted || !index.isLive(row)) continue
    const [step, group] = [columns.of.step.data[row] ?? 0, columns.of.groupInFile.data[row] ?? 0]
    const place = places.get(`${step}:${group}`) ?? { step, group, sum: 0, n: 0 }
    places.set(`${step}:${group}`, place)
    const total = columns.of.total.data[row] ?? Number.NaN
    if (Number.isNaN(total)) continue
    place.sum += total
    place.n++
  }
  return [...places.values()]
    .map(({ step, group, sum, n }) => ({ step, group, mean: n === 0 ? null : sum / n }))
    .toSorted((a, b) => a.step - b.step)
}

const withoutTokens = ({ group, ...rest }: RolloutRecord): GroupDetail['record'] => {
  const { promptTokenIds, completions, ...head } = group
  return {
    ...rest,
    group: {
      ...head,
      promptTokens: promptTokenIds.length,
      completions: completions.map(({ index, text, tokenIds, logprobs, finishReason }) => {
        const sum = logprobs.reduce((total, value) => total + value, 0)
        return {
          ...{ index, text, finishReason, tokens: tokenIds.length },
          meanLogprob: logprobs.length === 0 ? null : sum / logprobs.length,
        }
      }),
    },
  }
}

/** The index reads less of a record than is shown here: one of another version, or spoilt, is found out only now. */
const readRecord = (line: Buffer, step: number, group: number): RolloutRecord => {
  try {
    return RolloutRecord.parse(JSON.parse(line.toString('utf8')))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new PipelineError('checkpoint', `group ${group} of step ${step} cannot be read: ${reason}`, { cause: error })
  }
}

/** A group as it was written; null where there is none. */
export const readGroup = async (index: RolloutIndex, step: number, group: number): Promise<RolloutRecord | null> => {
  await index.refresh()
  if (index.findGroup(step, group) === undefined) await index.complete()
  const row = index.findGroup(step, group)
  return row === undefined ? null : readRecord(await index.line(row), step, group)
}

/** A group with what belongs to it: its prompt, the same prompt elsewhere, and what reviewers said. */
export const groupOf = async (
  { rollouts: index, prompts, evaluations, labels }: OpenRun,
  step: number,
  group: number,
): Promise<GroupDetail | null> => {
  const record = await readGroup(index, step, group)
  if (record === null) return null
  await labels.refresh()
  const { promptId, completions } = record.group
  const { attempt } = record
  return {
    record: withoutTokens(record),
    prompt: await prompts.find(promptId),
    places: placesOf(index, promptId),
    base: await evaluations.baseCompletions(promptId),
    labels: completions.map((_, sample) => labels.of({ attempt, step, group, sample })),
    takesLabels: await labels.isWritable(),
  }
}
