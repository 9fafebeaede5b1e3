import { isDeepStrictEqual } from 'node:util'
import type { EvaluationStatistics, PairedResult, PromptDelta } from '../../data/records/evaluation.ts'
import { nodeIds, type NodeId } from '../../data/records/node.ts'
import type { EvaluationSample } from '../../data/records/run.ts'
import { benjaminiHochberg } from '../statistics/benjamini-hochberg.ts'
import { defaultLevel, defaultResamples } from '../statistics/bootstrap.ts'
import { smallestDetectable } from '../statistics/detectable.ts'
import { signFlipTest } from '../statistics/sign-flip.ts'
import { byPrompt, componentMeasures, describePairs, difference, pairPrompts, type SamplesByPrompt } from './pairing.ts'
import { formMeasures } from './task-measures.ts'

export interface AnalysisOptions {
  readonly seed?: number
  readonly resamples?: number
}

interface Part {
  readonly node: NodeId | null
  readonly targetClass: string | null
  readonly base: readonly EvaluationSample[]
  readonly byPrompt: { readonly base: SamplesByPrompt; readonly trained: SamplesByPrompt }
}

const partOf = (
  node: NodeId | null,
  targetClass: string | null,
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
): Part => {
  const wanted = (sample: EvaluationSample): boolean =>
    (node === null || sample.node === node) && (targetClass === null || sample.targetClass === targetClass)
  const own = base.filter(wanted)
  return { node, targetClass, base: own, byPrompt: { base: byPrompt(own), trained: byPrompt(trained.filter(wanted)) } }
}

/** Null when no prompt has the measure on both sides. */
const compare = (part: Part, measure: string, { seed = 0, resamples }: AnalysisOptions): PairedResult | null => {
  const { pairs, leftOut } = pairPrompts(part.byPrompt.base, part.byPrompt.trained, measure)
  if (pairs.length === 0) return null
  const deltas = pairs.map(difference)
  const options = { seed, ...(resamples === undefined ? {} : { resamples }) }
  return {
    measure,
    node: part.node,
    targetClass: part.targetClass,
    ...describePairs(pairs, options),
    leftOut,
    p: signFlipTest(deltas, { ...options, alternative: 'two-sided' }),
    q: null,
    detectable: smallestDetectable(deltas),
  }
}

/** Everything that is measured of these samples. Reward, judge and components first; then what no reward decides. */
const measuresOf = ({ base }: Part): string[] => {
  const names = new Set(base.flatMap(({ measures }) => Object.keys(measures)))
  return ['reward', 'judge', ...componentMeasures(base), 'exactly_right', ...names]
}

/** What a class of targets is looked at for: the reward, and what is right. */
const classMeasures = (part: Part): string[] => {
  const names = new Set(part.base.flatMap(({ measures }) => Object.keys(measures)))
  return ['reward', 'exactly_right', ...[...names].filter((name) => !formMeasures.has(name))]
}

/** Over all nodes only measures that every node has: a mean over some of them would carry a wrong name. */
const sharedMeasures = (whole: Part, nodes: readonly Part[]): string[] => {
  const perNode = nodes.map((node) => new Set(measuresOf(node)))
  return measuresOf(whole).filter((measure) => perNode.every((names) => names.has(measure)))
}

const classesOf = ({ base }: Part): string[] =>
  [...new Set(base.flatMap(({ targetClass }) => targetClass ?? []))].toSorted()

/** q-values of the family that the report shows: every component at every node. */
const adjust = (results: readonly PairedResult[]): PairedResult[] => {
  const inFamily = results.filter(({ node, measure }) => node !== null && measure.startsWith('component/'))
  const adjusted = benjaminiHochberg(inFamily.map(({ p }) => p))
  const qOf = new Map(inFamily.map((result, i) => [result, adjusted[i] ?? null]))
  return results.map((result) => ({ ...result, q: qOf.get(result) ?? null }))
}

const promptDeltas = ({ base, trained }: Part['byPrompt']): PromptDelta[] =>
  pairPrompts(base, trained, 'reward')
    .pairs.map((pair) => ({ ...pair, delta: difference(pair) }))
    .toSorted((a, b) => a.delta - b.delta)

/** Whether statistics on record are of these samples and this seed, as far as every prompt's mean rewards tell: at a fraction of the price of computing them. */
export const areStatisticsOf = (
  { seed, resamples, level, promptDeltas: recorded }: EvaluationStatistics,
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
  wantedSeed: number,
): boolean =>
  seed === wantedSeed &&
  resamples === defaultResamples &&
  level === defaultLevel &&
  isDeepStrictEqual(recorded, promptDeltas({ base: byPrompt(base), trained: byPrompt(trained) }))

/**
 * Compares two sets of samples of the same prompts, measure by measure: over all nodes, per node, per class of target.
 * Pure; the same samples and seed give the same digits, whatever the order of the samples' prompts.
 */
export const analyse = (
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
  options: AnalysisOptions = {},
): EvaluationStatistics => {
  const whole = partOf(null, null, base, trained)
  const nodes = nodeIds.map((node) => partOf(node, null, base, trained)).filter((part) => part.base.length > 0)
  const classParts = nodes.flatMap((part) =>
    classesOf(part).map((targetClass) => partOf(part.node, targetClass, base, trained)),
  )
  const results = [
    ...sharedMeasures(whole, nodes).map((measure) => compare(whole, measure, options)),
    ...nodes.flatMap((part) => measuresOf(part).map((measure) => compare(part, measure, options))),
    ...classParts.flatMap((part) => classMeasures(part).map((measure) => compare(part, measure, options))),
  ].filter((result) => result !== null)
  return {
    seed: options.seed ?? 0,
    resamples: options.resamples ?? defaultResamples,
    level: defaultLevel,
    results: adjust(results),
    promptDeltas: promptDeltas(whole.byPrompt),
  }
}
