import type { NodeId } from '../../data/records/node.ts'
import type { EvaluationSample } from '../../data/records/run.ts'
import { mean } from '../../data/statistics.ts'
import { bootstrapInterval, type BootstrapOptions } from '../statistics/bootstrap.ts'

/** Value of one measure of one sample; null where it has none: not scored, no target, not of this node. */
export const valueOf = ({ score, exactlyRight, measures }: EvaluationSample, measure: string): number | null => {
  if (measure === 'exactly_right') return exactlyRight === null ? null : Number(exactlyRight)
  if (measure in measures) return measures[measure] ?? null
  if (score.kind !== 'scored') return null
  if (measure === 'reward') return score.total
  if (measure === 'judge') return score.components['judge']?.raw ?? null
  return score.components[measure.replace(/^component\//, '')]?.weighted ?? null
}

/** Names of the reward components that samples were scored with, as measures. */
export const componentMeasures = (samples: readonly EvaluationSample[]): string[] => {
  const scored = samples.find(({ score }) => score.kind === 'scored')
  return scored?.score.kind === 'scored' ? Object.keys(scored.score.components).map((name) => `component/${name}`) : []
}

export interface PromptPair {
  readonly promptId: string
  readonly node: NodeId
  readonly base: number
  readonly trained: number
}

/** Samples of one side by prompt. */
export type SamplesByPrompt = ReadonlyMap<string, readonly EvaluationSample[]>

export const byPrompt = (samples: readonly EvaluationSample[]): SamplesByPrompt => {
  const groups = new Map<string, EvaluationSample[]>()
  for (const sample of samples) {
    const group = groups.get(sample.promptId)
    if (group === undefined) groups.set(sample.promptId, [sample])
    else group.push(sample)
  }
  return groups
}

const meanOf = (samples: readonly EvaluationSample[], measure: string): number | null => {
  // In order of size: the samples of a prompt have none, and the last bits of a sum must not depend on it.
  const values: number[] = []
  for (const sample of samples) {
    const value = valueOf(sample, measure)
    if (value !== null) values.push(value)
  }
  values.sort((a, b) => a - b)
  return values.length === 0 ? null : mean(values)
}

/**
 * Pairs one measure by prompt, samples averaged first, in the order of the prompts' ids. A prompt without a value on either
 * side is left out, and counted.
 */
export const pairPrompts = (
  base: SamplesByPrompt,
  trained: SamplesByPrompt,
  measure: string,
): { readonly pairs: readonly PromptPair[]; readonly leftOut: number } => {
  const ids = [...new Set([...base.keys(), ...trained.keys()])].toSorted()
  const pairs = ids.flatMap((promptId): PromptPair[] => {
    const [before, after] = [base.get(promptId) ?? [], trained.get(promptId) ?? []]
    const [left, right] = [meanOf(before, measure), meanOf(after, measure)]
    const node = before[0]?.node
    return left === null || right === null || node === undefined ? [] : [{ promptId, node, base: left, trained: right }]
  })
  return { pairs, leftOut: ids.length - pairs.length }
}

/** Differences that only rounding made are none: sums of the same parts in another order differ in their last bits. */
export const difference = ({ base, trained }: PromptPair): number => {
  const delta = trained - base
  return Math.abs(delta) < 1e-9 ? 0 : delta
}

/** How many differences are above, below and at 0. */
export const directions = (deltas: readonly number[]): { wins: number; losses: number; ties: number } => {
  const [wins, losses] = [deltas.filter((delta) => delta > 0).length, deltas.filter((delta) => delta < 0).length]
  return { wins, losses, ties: deltas.length - wins - losses }
}

/** The two means of a measure and what lies between them; needs at least one pair. */
export const describePairs = (pairs: readonly PromptPair[], options: BootstrapOptions) => {
  const deltas = pairs.map(difference)
  return {
    prompts: pairs.length,
    base: mean(pairs.map(({ base }) => base)),
    trained: mean(pairs.map(({ trained }) => trained)),
    delta: mean(deltas),
    interval: bootstrapInterval(deltas, options),
    ...directions(deltas),
  }
}
