import { nodeIds, type NodeId } from '../records/node.ts'

/** Takes the nodes in turn, each in its own order, so that any first part of a list has its share of each. */
export const inTurn = <T>(items: readonly T[], nodeOf: (item: T) => NodeId): T[] => {
  const queues = nodeIds.map((node) => items.filter((item) => nodeOf(item) === node))
  const longest = Math.max(0, ...queues.map((queue) => queue.length))
  return Array.from({ length: longest }, (_, i) => queues.flatMap((queue) => queue.slice(i, i + 1))).flat()
}
