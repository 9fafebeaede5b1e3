import { nodeContracts, nodeIds, type NodeId } from '../../data/records/node.ts'
import type { RegressionLevel } from '../../data/records/regression.ts'
import type { EvaluationSide } from './load.ts'
import { componentMeasures } from './pairing.ts'

/** One question to ask, before anything is computed. */
export interface Question {
  readonly name: string
  readonly level: RegressionLevel
  readonly node: NodeId | null
  readonly measure: string
  /** Largest value of the measure: margins are shares of it. */
  readonly maximum: number
}

const label = (node: NodeId): string => `${node} ${nodeContracts[node].tag}`

const nodesOf = ({ samples }: EvaluationSide): NodeId[] =>
  nodeIds.filter((node) => samples.some((sample) => sample.node === node))

const levels: Readonly<Record<RegressionLevel, (side: EvaluationSide) => Question[]>> = {
  total: ({ summary }) => [
    { name: 'total reward', level: 'total', node: null, measure: 'reward', maximum: summary.rewardMaximum },
  ],
  node: (side) =>
    nodesOf(side).map((node) => ({
      name: `${label(node)}: reward`,
      level: 'node',
      node,
      measure: 'reward',
      maximum: side.summary.rewardMaximum,
    })),
  component: (side) =>
    nodesOf(side).flatMap((node) =>
      componentMeasures(side.samples).map((measure) => {
        const component = measure.slice('component/'.length)
        const maximum = side.summary.rewards.maxima[component] ?? 0
        return { name: `${label(node)}: ${component}`, level: 'component', node, measure, maximum }
      }),
    ),
  accuracy: (side) => [
    { name: 'accuracy', level: 'accuracy', node: null, measure: 'exactly_right', maximum: 1 },
    ...nodesOf(side).map((node): Question => ({
      name: `${label(node)}: accuracy`,
      level: 'accuracy',
      node,
      measure: 'exactly_right',
      maximum: 1,
    })),
  ],
}

/** All questions of the levels that a verdict may fail on, in a fixed order. */
export const questionsOf = (side: EvaluationSide, failOn: readonly RegressionLevel[]): Question[] =>
  failOn.flatMap((level) => levels[level](side))
