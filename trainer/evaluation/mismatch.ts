import type { EvaluationSample, EvaluationSummary } from '../../data/records/run.ts'
import type { EvaluationSide } from './load.ts'

/** A condition that two evaluations must share before anything can be said about their difference. */
export interface Mismatch {
  readonly condition: 'prompts' | 'targets' | 'judge' | 'decoding' | 'reward profile' | 'reward settings'
  readonly detail: string
}

type Pair = readonly [base: EvaluationSummary, trained: EvaluationSummary]

const promptsOf = (samples: readonly EvaluationSample[]): Set<string> =>
  new Set(samples.map(({ promptId }) => promptId))

const promptDetail = (base: EvaluationSide, trained: EvaluationSide): string => {
  const [before, after] = [promptsOf(base.samples), promptsOf(trained.samples)]
  const shared = [...before].filter((id) => after.has(id)).length
  return `${before.size} and ${after.size} prompts, ${shared} in common; a prompt's id is the hash of what the model is shown, wording included`
}

const decodingDetail = ([base, trained]: Pair): string[] =>
  (['samples', 'temperature', 'maxTokens'] as const).flatMap((key) =>
    base.decoding[key] === trained.decoding[key] ? [] : [`${key} ${base.decoding[key]} and ${trained.decoding[key]}`],
  )

const maximaDetail = ([base, trained]: Pair): string => {
  const names = Object.keys({ ...base.rewards.maxima, ...trained.rewards.maxima })
  const changed = names.flatMap((name) => {
    const [before, after] = [base.rewards.maxima[name], trained.rewards.maxima[name]]
    return before === after ? [] : [`${name} ${before ?? 'absent'} and ${after ?? 'absent'}`]
  })
  return changed.length === 0 ? 'the same maxima, but other caps' : changed.join(', ')
}

const conditions: readonly ((base: EvaluationSide, trained: EvaluationSide) => readonly Mismatch[])[] = [
  (base, trained) =>
    base.summary.promptSetHash === trained.summary.promptSetHash
      ? []
      : [{ condition: 'prompts', detail: promptDetail(base, trained) }],
  (base, trained) =>
    base.summary.targetSetHash === trained.summary.targetSetHash ||
    base.summary.promptSetHash !== trained.summary.promptSetHash
      ? []
      : [{ condition: 'targets', detail: 'the same prompts, but another ground truth' }],
  ({ summary: base }, { summary: trained }) =>
    base.judge === trained.judge ? [] : [{ condition: 'judge', detail: `${base.judge} and ${trained.judge}` }],
  ({ summary: base }, { summary: trained }) =>
    decodingDetail([base, trained]).map((detail) => ({ condition: 'decoding', detail })),
  ({ summary: { rewards: base } }, { summary: { rewards: trained } }) =>
    base.profile === trained.profile
      ? []
      : [{ condition: 'reward profile', detail: `${base.profile} and ${trained.profile}` }],
  ({ summary: base }, { summary: trained }) =>
    base.rewards.hash === trained.rewards.hash || base.rewards.profile !== trained.rewards.profile
      ? []
      : [{ condition: 'reward settings', detail: maximaDetail([base, trained]) }],
]

/** Everything that makes two evaluations incomparable. The seed of sampling is none of it. */
export const findMismatches = (base: EvaluationSide, trained: EvaluationSide): Mismatch[] =>
  conditions.flatMap((differences) => differences(base, trained))
