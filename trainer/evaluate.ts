import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { nodeIds } from '../data/records/node.ts'
import type { EvaluationSample, EvaluationSummary } from '../data/records/run.ts'
import { writeFileAtomic, writeJsonAtomic } from '../data/store/atomic.ts'
import { isExactlyRight } from '../judge/accuracy.ts'
import type { Scorer } from '../rewards/scorer.ts'
import type { BoundPrompt } from './bind-pool.ts'
import { compareSamples } from './evaluation-summary.ts'
import { generateGroups, type Policy } from './generate.ts'
import type { Sampler } from './sampler.ts'
import { scoreGroup } from './score.ts'

export interface EvaluationRequest {
  /** Names the directory under eval/; part of the seeds, so that two evaluations of one name sample alike. */
  readonly name: string
  readonly directory: string
  readonly sampler: Sampler
  readonly scorer: Scorer
  readonly judgeName: string
  readonly trained: Policy
  readonly prompts: readonly BoundPrompt[]
  readonly samples: number
  readonly maxTokens: number
  readonly temperature: number
  readonly seed: number
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  /** Told after each prompt. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** The first `count` held-out prompts, taken from the nodes in turn so that each has its share. Always the same ones. */
export const chooseHeldout = (heldout: readonly BoundPrompt[], count: number): BoundPrompt[] => {
  const queues = nodeIds.map((node) => heldout.filter(({ prompt }) => prompt.node === node))
  const longest = Math.max(0, ...queues.map((queue) => queue.length))
  const inTurn = Array.from({ length: longest }, (_, i) => queues.flatMap((queue) => queue.slice(i, i + 1))).flat()
  return inTurn.slice(0, count)
}

/** Samples and scores every prompt with one policy, in the order of the prompts. */
const samplesOf = async (
  request: EvaluationRequest,
  policy: Policy,
  onPrompt: () => void,
): Promise<EvaluationSample[]> => {
  const { sampler, scorer, prompts, samples: groupSize, maxTokens, temperature, concurrency, signal } = request
  const generate = {
    sampler,
    policy,
    prompts,
    step: 0,
    stage: `eval/${request.name}`,
    runSeed: request.seed,
    groupSize,
    maxTokens,
    temperature,
    concurrency,
    signal,
  }
  const groups = await generateGroups(generate, async (group, bound) => {
    const { assessments } = await scoreGroup(scorer, bound, group)
    onPrompt()
    return group.completions.flatMap((completion, i): EvaluationSample[] => {
      const assessment = assessments[i]
      if (assessment === undefined) return []
      const exactlyRight = isExactlyRight(bound.prompt, completion.text)
      return [
        {
          promptId: group.promptId,
          node: group.node,
          policyName: policy.name,
          seed: group.seed,
          completion,
          ...assessment,
          exactlyRight,
        },
      ]
    })
  })
  return groups.flat()
}

function* linesOf(samples: readonly EvaluationSample[]): Generator<string> {
  for (const sample of samples) yield `${JSON.stringify(sample)}\n`
}

/** Identity of a set of prompts, whatever their order. */
export const promptSetHash = (prompts: readonly BoundPrompt[]): string =>
  createHash('sha256')
    .update(JSON.stringify(prompts.map(({ prompt }) => prompt.id).toSorted()))
    .digest('hex')

/**
 * Compares the base model with a trained policy: the same held-out prompts, decoding settings and seeds, the same scorer.
 * Writes base.jsonl, trained.jsonl and, last, summary.json.
 */
export const evaluate = async (request: EvaluationRequest): Promise<EvaluationSummary> => {
  const started = performance.now()
  const total = 2 * request.prompts.length
  let done = 0
  const onPrompt = (): void => request.onProgress?.(++done, total)
  const base = await samplesOf(request, { version: 0, name: request.sampler.baseName }, onPrompt)
  const trained = await samplesOf(request, request.trained, onPrompt)
  const { samples, temperature, maxTokens, seed } = request
  const summary: EvaluationSummary = {
    name: request.name,
    at: new Date().toISOString(),
    baseName: request.sampler.baseName,
    trainedName: request.trained.name,
    policyVersion: request.trained.version,
    decoding: { samples, temperature, maxTokens, seed },
    promptSetHash: promptSetHash(request.prompts),
    judge: request.judgeName,
    rewardMaximum: request.scorer.maximum,
    ...compareSamples(base, trained),
    seconds: (performance.now() - started) / 1000,
  }
  await writeFileAtomic(join(request.directory, 'base.jsonl'), linesOf(base))
  await writeFileAtomic(join(request.directory, 'trained.jsonl'), linesOf(trained))
  await writeJsonAtomic(join(request.directory, 'summary.json'), summary)
  return summary
}
