import { nodeIds, type NodeId } from '../../data/records/node.ts'
import type { EvaluationRow, EvaluationSample, EvaluationScores } from '../../data/records/run.ts'
import { mean, meanOrNull } from '../../data/statistics.ts'
import { byPrompt, difference, directions, pairPrompts } from './pairing.ts'

const share = (flags: readonly boolean[]): number | null => meanOrNull(flags.map(Number))

/** Means over samples. Where all are scored that is the mean over prompts as well: each has equally many. */
const scoresOf = (samples: readonly EvaluationSample[]): EvaluationScores => {
  const scored = samples.flatMap(({ score }) => (score.kind === 'scored' ? [score] : []))
  const names = Object.keys(scored[0]?.components ?? {})
  return {
    prompts: new Set(samples.map(({ promptId }) => promptId)).size,
    samples: samples.length,
    unscored: samples.length - scored.length,
    reward: meanOrNull(scored.map(({ total }) => total)),
    judge: meanOrNull(scored.flatMap(({ components }) => components['judge']?.raw ?? [])),
    components: Object.fromEntries(
      names.map((name) => [name, mean(scored.map(({ components }) => components[name]?.weighted ?? 0))]),
    ),
    exactlyRight: share(samples.flatMap(({ exactlyRight }) => (exactlyRight === null ? [] : [exactlyRight]))),
    truncated: share(samples.map(({ completion }) => completion.finishReason === 'length')),
    meanTokens: meanOrNull(samples.map(({ completion }) => completion.tokenIds.length)),
  }
}

/** Base against trained, paired by prompt. A prompt that has no score on one side is not counted in either direction. */
const compare = (base: readonly EvaluationSample[], trained: readonly EvaluationSample[]): EvaluationRow => {
  const { pairs } = pairPrompts(byPrompt(base), byPrompt(trained), 'reward')
  const { wins: improved, ties: equal, losses: worse } = directions(pairs.map(difference))
  return {
    base: scoresOf(base),
    trained: scoresOf(trained),
    ...{ improved, equal, worse },
    improvedShare: pairs.length === 0 ? null : improved / pairs.length,
  }
}

const ofNode = (samples: readonly EvaluationSample[], node: NodeId): EvaluationSample[] =>
  samples.filter((sample) => sample.node === node)

/** The comparison over all prompts and per node. Pure. */
export const compareSamples = (
  base: readonly EvaluationSample[],
  trained: readonly EvaluationSample[],
): { all: EvaluationRow; nodes: Partial<Record<NodeId, EvaluationRow>> } => {
  const present = nodeIds.filter((node) => base.some((sample) => sample.node === node))
  return {
    all: compare(base, trained),
    nodes: Object.fromEntries(present.map((node) => [node, compare(ofNode(base, node), ofNode(trained, node))])),
  }
}
