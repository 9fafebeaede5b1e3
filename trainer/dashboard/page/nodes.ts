import type { NodeId } from '../../../data/records/node.ts'
import { s } from './dom.ts'

/** Marker of each node: what tells nodes apart where colours do not. Path in a box of 12, centred at 0. */
interface NodeFace {
  readonly tag: string
  readonly short: string
  readonly marker: string
}

export const nodes = {
  n1: { tag: 'classify_drift', short: 'classify', marker: 'M0-4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0-4.5Z' },
  n2: { tag: 'detect_drift_operations', short: 'detect', marker: 'M-4-4H4V4H-4Z' },
  n3: { tag: 'search_api', short: 'search', marker: 'M0-5L5 4H-5Z' },
  n4: { tag: 'evaluate_risk', short: 'risk', marker: 'M0-5.5L5.5 0L0 5.5L-5.5 0Z' },
  n5: {
    tag: 'aggregate_and_decision',
    short: 'decide',
    marker: 'M-2-5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z',
  },
} as const satisfies Record<NodeId, NodeFace>

export const nodeIds = Object.keys(nodes) as NodeId[]
export const isNode = (text: string | null | undefined): text is NodeId => nodeIds.includes(text as NodeId)

/** A node's marker as a small picture of its own; the name stands beside it. */
export const markerIcon = (node: NodeId): SVGElement =>
  s(
    'svg',
    { class: `marker ${node}`, width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true' },
    s('path', { d: nodes[node].marker, class: `fill ${node}` }),
  )
