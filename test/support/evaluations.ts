import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeIds, type NodeId } from '../../data/records/node.ts'
import type { EvaluationSample, EvaluationSummary } from '../../data/records/run.ts'
import { Rng } from '../../data/world/random.ts'
import { compareSamples } from '../../trainer/evaluation/summarise.ts'

/** Largest contributions of the components that made-up samples have. */
export const maxima = { json_schema: 1, strict_format: 0.5, judge: 1 }

export interface SampleValues {
  readonly promptId: string
  readonly node: NodeId
  readonly components: Readonly<Record<string, number>> | null
  readonly right?: boolean | null
  readonly targetClass?: string | null
  readonly measures?: Readonly<Record<string, number>>
}

/** A sample from contributions to R; null: unscored. */
export const makeSample = (values: SampleValues): EvaluationSample => {
  const { promptId, node, components, right = null, targetClass = null, measures = {} } = values
  return {
    ...{ promptId, node, policyName: 'p', seed: 0, exactlyRight: right, targetClass, measures, verdict: null },
    completion: { index: 0, text: '', tokenIds: [1], logprobs: [-1], finishReason: 'stop' },
    score:
      components === null
        ? { kind: 'unscored', component: 'judge', reason: 'no verdict' }
        : {
            kind: 'scored',
            total: Object.values(components).reduce((sum, value) => sum + value, 0),
            components: Object.fromEntries(
              Object.entries(components).map(([name, weighted]) => [
                name,
                { raw: weighted, weight: 1, weighted, detail: '' },
              ]),
            ),
          },
  }
}

/** Samples of a model that is right with the given chance: `prompts` prompts a node, so many samples each. */
export const randomSamples = (
  name: string,
  chance: number,
  { prompts = 20, samples = 4 }: { readonly prompts?: number; readonly samples?: number } = {},
): EvaluationSample[] => {
  const rng = Rng.of(name)
  return nodeIds.flatMap((node) =>
    Array.from({ length: prompts }, (_, i) => `${node}-${String(i).padStart(2, '0')}`).flatMap((promptId) => {
      // Prompts differ in how hard they are, alike for every model.
      const ease = Rng.of(promptId).next() - 0.5
      return Array.from({ length: samples }, () => {
        const right = rng.chance(Math.min(1, Math.max(0, chance + 0.4 * ease)))
        const form = rng.chance(0.8) ? 1 : 0
        const components = { json_schema: form, strict_format: form / 2, judge: right ? 0.9 : 0.2 }
        const measures = { envelope: form, readable: form, truncated: 0, tokens: 60 + rng.int(0, 20) }
        return makeSample({ promptId, node, components, right, targetClass: parity(promptId), measures })
      })
    }),
  )
}

const parity = (promptId: string): string => (Number(promptId.slice(3)) % 2 === 0 ? 'even' : 'odd')

/** A summary that fits two sets of samples. */
export const makeSummary = (
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
  changes: Partial<EvaluationSummary> = {},
): EvaluationSummary => {
  const ids = [...new Set(base.map(({ promptId }) => promptId))].toSorted()
  return {
    ...{ name: 'final', at: '2026-01-01T00:00:00.000Z', baseName: 'base', trainedName: 'policy-made-up-000009' },
    ...{ policyVersion: 9, step: 9, adapter: null, judge: 'reference', rewardMaximum: 2.5, seconds: 1 },
    decoding: { samples: 4, temperature: 1, maxTokens: 200, seed: 0 },
    promptSetHash: createHash('sha256').update(ids.join()).digest('hex'),
    targetSetHash: 'targets',
    rewards: { profile: 'hardened', hash: 'rewards', maxima },
    ...compareSamples(base, trained),
    ...changes,
  }
}

const lines = (records: readonly unknown[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** Writes an evaluation as the trainer does. */
export const writeEvaluation = (
  directory: string,
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
  changes: Partial<EvaluationSummary> = {},
): string => {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'base.jsonl'), lines(base))
  writeFileSync(join(directory, 'trained.jsonl'), lines(trained))
  writeFileSync(join(directory, 'summary.json'), JSON.stringify(makeSummary(base, trained, changes)))
  return directory
}
