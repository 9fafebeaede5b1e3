import type { NodeId } from '../../../data/records/node.ts'
import type { Series } from '../view.ts'
import { mean } from './format.ts'

export interface Missing {
  readonly component: string
  readonly mean: number
  readonly maximum: number
  readonly missing: number
}

/** What each component still lacks at a node over the latest steps, the largest first. */
export const heldBack = (
  { values }: Series,
  node: NodeId,
  maxima: Readonly<Record<string, number>>,
  count = 20,
): Missing[] =>
  Object.entries(maxima)
    .flatMap(([component, maximum]): Missing[] => {
      const own = mean((values[`reward/${node}/${component}`] ?? []).slice(-count))
      return own === null ? [] : [{ component, mean: own, maximum, missing: maximum - own }]
    })
    .toSorted((a, b) => b.missing - a.missing)
