import { describe, expect, it } from 'vitest'
import { inTurn } from '../../../data/pool/in-turn.ts'
import type { NodeId } from '../../../data/records/node.ts'

describe('taking the nodes in turn', () => {
  const items: readonly [NodeId, number][] = [
    ['n2', 1],
    ['n2', 2],
    ['n2', 3],
    ['n5', 1],
    ['n1', 1],
    ['n1', 2],
  ]

  it('gives every node its share of each first part, keeps the order within a node, and loses nothing', () => {
    expect(inTurn(items, ([node]) => node).map(([node, i]) => `${node}.${i}`)).toEqual([
      ...['n1.1', 'n2.1', 'n5.1'],
      ...['n1.2', 'n2.2', 'n2.3'],
    ])
  })

  it('gives nothing for nothing', () => {
    expect(inTurn([], () => 'n1')).toEqual([])
  })
})
