import { nodeIds, type NodeId } from '../../data/records/node.ts'
import type { Score } from '../../data/records/reward.ts'

/** Means over the scored completions of one node, or of all. Null: there is none. */
export interface ScoreRow {
  readonly completions: number
  readonly unscored: number
  readonly reward: number | null
  /** Mean contribution to R, by component. */
  readonly components: Readonly<Record<string, number>>
}

class Sums {
  #scored = 0
  #unscored = 0
  #total = 0
  readonly #components = new Map<string, number>()

  add(score: Score): void {
    if (score.kind === 'unscored') {
      this.#unscored += 1
      return
    }
    this.#scored += 1
    this.#total += score.total
    for (const [name, { weighted }] of Object.entries(score.components))
      this.#components.set(name, (this.#components.get(name) ?? 0) + weighted)
  }

  row(): ScoreRow {
    const scored = this.#scored
    return {
      completions: scored + this.#unscored,
      unscored: this.#unscored,
      reward: scored === 0 ? null : this.#total / scored,
      components: Object.fromEntries([...this.#components].map(([name, sum]) => [name, sum / scored])),
    }
  }
}

export interface ScoreRows {
  readonly all: ScoreRow
  readonly nodes: Readonly<Partial<Record<NodeId, ScoreRow>>>
}

/** Adds up scores by node and component; its size does not depend on their number. */
export class ScoreTally {
  readonly #all = new Sums()
  readonly #nodes = new Map<NodeId, Sums>()

  add(node: NodeId, score: Score): void {
    const own = this.#nodes.get(node) ?? new Sums()
    this.#nodes.set(node, own)
    own.add(score)
    this.#all.add(score)
  }

  rows(): ScoreRows {
    const nodes = nodeIds.flatMap((node) => {
      const sums = this.#nodes.get(node)
      return sums === undefined ? [] : [[node, sums.row()] as const]
    })
    return { all: this.#all.row(), nodes: Object.fromEntries(nodes) }
  }
}
