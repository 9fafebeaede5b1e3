import { z } from 'zod'

/** The five roles that one policy serves. Records carry the id; people see id and tag. */
export const nodeIds = ['n1', 'n2', 'n3', 'n4', 'n5'] as const
export const NodeId = z.enum(nodeIds)
export type NodeId = z.infer<typeof NodeId>

export interface NodeContract {
  readonly tag: string
  /** The exact top-level keys of the node's JSON answer, in the order people write them. */
  readonly answerKeys: readonly string[]
}

export const nodeContracts = {
  n1: { tag: 'classify_drift', answerKeys: ['step', 'is_aligned', 'why'] },
  n2: { tag: 'detect_drift_operations', answerKeys: ['write_operations', 'read_operations'] },
  n3: { tag: 'search_api', answerKeys: ['apps_name'] },
  n4: { tag: 'evaluate_risk', answerKeys: ['write_reversible', 'write_not_reversible'] },
  n5: { tag: 'aggregate_and_decision', answerKeys: ['action', 'arguments'] },
} as const satisfies Record<NodeId, NodeContract>

const byName = new Map<string, NodeId>(
  nodeIds.flatMap((id) => [
    [id, id],
    [nodeContracts[id].tag, id],
  ]),
)

/** Reads a node id or a node tag; undefined when it is neither. */
export const parseNode = (name: string): NodeId | undefined => byName.get(name)
