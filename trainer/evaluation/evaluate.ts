import { join } from 'node:path'
import { jsonLines } from '../../data/store/jsonl.ts'
import type { EvaluationStatistics } from '../../data/records/evaluation.ts'
import type { EvaluationSample, EvaluationSummary } from '../../data/records/run.ts'
import { writeFileAtomic, writeJsonAtomic } from '../../data/store/atomic.ts'
import { isExactlyRight } from '../../judge/accuracy.ts'
import type { RewardsConfig } from '../../rewards/config.ts'
import type { Scorer } from '../../rewards/scorer.ts'
import type { BoundPrompt } from '../bind-pool.ts'
import { generateGroups, type Policy } from '../generate.ts'
import type { RunDirectory } from '../run-directory.ts'
import type { Sampler } from '../sampler.ts'
import { requireJudged, scoreGroup } from '../score.ts'
import { analyse } from './analyse.ts'
import { promptSetHash, targetSetHash } from './heldout.ts'
import { adapterHash, rewardIdentity } from './identity.ts'
import { compareSamples } from './summarise.ts'
import { targetClass, taskMeasures } from './task-measures.ts'

export interface EvaluationRequest {
  /** Names the directory under eval/. */
  readonly name: string
  /** Part of the sampling seeds: two evaluations of one stage sample alike. Default: the name. */
  readonly stage?: string | undefined
  readonly run: RunDirectory
  readonly sampler: Sampler
  readonly scorer: Scorer
  readonly rewards: RewardsConfig
  readonly judgeName: string
  readonly trained: Policy
  /** Steps that the trained policy had behind it, and the name of its adapter under adapters/; null at version 0. */
  readonly step: number
  readonly adapter: string | null
  readonly prompts: readonly BoundPrompt[]
  readonly samples: number
  readonly maxTokens: number
  readonly temperature: number
  readonly seed: number
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  /** Samples of the base under the very same settings, where they are known already. */
  readonly base?: readonly EvaluationSample[] | undefined
  /** Told after each prompt. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

export interface Evaluation {
  readonly summary: EvaluationSummary
  readonly statistics: EvaluationStatistics
  readonly base: readonly EvaluationSample[]
  readonly trained: readonly EvaluationSample[]
}

/** Samples and scores every prompt with one policy, in the order of the prompts. */
const samplesOf = async (
  request: EvaluationRequest,
  policy: Policy,
  onPrompt: () => void,
): Promise<EvaluationSample[]> => {
  const { sampler, scorer, prompts, samples: groupSize, maxTokens, temperature, concurrency, signal } = request
  const stage = `eval/${request.stage ?? request.name}`
  const settings = { ...{ sampler, policy, prompts, stage, groupSize, maxTokens, temperature, concurrency, signal } }
  const groups = await generateGroups(
    { ...settings, step: 0, runSeed: request.seed },
    async (group, bound, cancelled) => {
      const { assessments } = await scoreGroup(scorer, bound, group, cancelled)
      onPrompt()
      return group.completions.flatMap((completion, i): EvaluationSample[] => {
        const assessment = assessments[i]
        if (assessment === undefined) return []
        return [
          {
            promptId: group.promptId,
            node: group.node,
            policyName: policy.name,
            seed: group.seed,
            completion,
            ...assessment,
            exactlyRight: isExactlyRight(bound.prompt, completion.text),
            targetClass: targetClass(bound.prompt),
            measures: taskMeasures(bound.prompt, completion),
          },
        ]
      })
    },
  )
  const all = groups.flat()
  requireJudged(scorer, all, `evaluation ${request.name}, ${policy.name}`)
  return all
}

const summarise = async (
  request: EvaluationRequest,
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
  seconds: number,
): Promise<EvaluationSummary> => {
  const { name, run, sampler, samples, temperature, maxTokens, seed, adapter } = request
  const directory = adapter === null ? null : join(run.adapters, adapter)
  return {
    name,
    at: new Date().toISOString(),
    baseName: sampler.baseName,
    trainedName: request.trained.name,
    policyVersion: request.trained.version,
    step: request.step,
    adapter: directory === null ? null : { directory: run.inside(directory), sha256: await adapterHash(directory) },
    decoding: { samples, temperature, maxTokens, seed },
    promptSetHash: promptSetHash(request.prompts),
    targetSetHash: targetSetHash(request.prompts),
    judge: request.judgeName,
    rewards: rewardIdentity(request.rewards, request.scorer),
    rewardMaximum: request.scorer.maximum,
    ...compareSamples(base, trained),
    seconds,
  }
}

/** Writes eval/<name>/; summary.json comes last: where it is, everything is. */
const record = async ({ run, name, prompts }: EvaluationRequest, evaluation: Evaluation): Promise<void> => {
  const at = (file: string): string => join(run.evaluation(name), file)
  await writeFileAtomic(at('prompts.jsonl'), jsonLines(prompts.map(({ prompt }) => prompt)))
  await writeFileAtomic(at('base.jsonl'), jsonLines(evaluation.base))
  await writeFileAtomic(at('trained.jsonl'), jsonLines(evaluation.trained))
  await writeJsonAtomic(at('statistics.json'), evaluation.statistics)
  await writeJsonAtomic(at('summary.json'), evaluation.summary)
}

/**
 * Compares the base model with a trained policy: the same held-out prompts, decoding settings and seeds, the same scorer.
 * Records prompts, samples of both, statistics and a summary.
 */
export const evaluate = async (request: EvaluationRequest): Promise<Evaluation> => {
  const started = performance.now()
  const total = (request.base === undefined ? 2 : 1) * request.prompts.length
  let done = 0
  const onPrompt = (): void => request.onProgress?.(++done, total)
  const untrained = { version: 0, name: request.sampler.baseName }
  const base = request.base ?? (await samplesOf(request, untrained, onPrompt))
  const trained = await samplesOf(request, request.trained, onPrompt)
  const statistics = analyse(base, trained, { seed: request.seed })
  const seconds = (performance.now() - started) / 1000
  const evaluation = { summary: await summarise(request, base, trained, seconds), statistics, base, trained }
  await record(request, evaluation)
  return evaluation
}
