import type { NodeId } from '../records/node.ts'
import { nodeContracts } from '../records/node.ts'
import type { Prompt, Split } from '../records/prompt.ts'
import type { Rejection } from './draft.ts'

type Counts = Record<string, number>

const bump = (counts: Counts, key: string, by: number): void => {
  counts[key] = (counts[key] ?? 0) + by
}

const sorted = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))

export interface SplitReport {
  total: number
  bySource: Counts
  byNode: Counts
  /** Keys are `node/group`, the classes that the pool is balanced by. */
  byGroup: Counts
  byCase: Counts
  withTarget: number
  upstreamMistakes: number
  /** Prompts that were asked for and could not be had, by node. */
  missing: Counts
}

export interface PoolReport {
  readonly seed: number
  readonly templateVersion: string
  readonly trajectories: { read: number; bySplit: Counts }
  /**
   * Trajectories by the attack whose wording carried the payload. Tasks and payloads are never in both splits, wordings
   * may be: an evaluation then measures known attacks on new tasks, not new attacks.
   */
  readonly attacks: Record<Split, Counts>
  readonly splits: Record<Split, SplitReport>
  /** Keys are `node/reason`, or `trajectory/reason` for what was refused whole. */
  readonly rejected: Counts
}

const emptySplit = (): SplitReport => ({
  total: 0,
  bySource: {},
  byNode: {},
  byGroup: {},
  byCase: {},
  withTarget: 0,
  upstreamMistakes: 0,
  missing: {},
})

const nodeName = (node: NodeId): string => `${node} ${nodeContracts[node].tag}`

/** Counts everything that the builder keeps or refuses. */
export class Tally {
  readonly #splits: Record<Split, SplitReport> = { train: emptySplit(), heldout: emptySplit() }
  readonly #rejected: Counts = {}
  readonly #attacks: Record<Split, Counts> = { train: {}, heldout: {} }
  readonly #trajectories = { read: 0, bySplit: {} as Counts }

  trajectory(split: Split | null, attack?: string): void {
    this.#trajectories.read++
    if (split === null) return
    bump(this.#trajectories.bySplit, split, 1)
    if (attack !== undefined) bump(this.#attacks[split], attack, 1)
  }

  /** Bound, so that it can be handed on as a callback. */
  readonly reject = (rejection: Rejection): void => this.rejectMany(rejection, 1)

  rejectMany({ node, reason }: Rejection, count: number): void {
    if (count > 0) bump(this.#rejected, `${node ?? 'trajectory'}/${reason}`, count)
  }

  keep(prompt: Prompt, group: string): void {
    const report = this.#splits[prompt.split]
    report.total++
    bump(report.bySource, prompt.origin.source, 1)
    bump(report.byNode, nodeName(prompt.node), 1)
    bump(report.byGroup, `${prompt.node}/${group}`, 1)
    bump(report.byCase, prompt.origin.case, 1)
    report.withTarget += prompt.target === null ? 0 : 1
    report.upstreamMistakes += prompt.origin.upstreamMistake ? 1 : 0
  }

  missing(split: Split, node: NodeId, count: number): void {
    bump(this.#splits[split].missing, nodeName(node), count)
  }

  report(seed: number, templateVersion: string): PoolReport {
    const finish = (split: SplitReport): SplitReport => ({
      ...split,
      bySource: sorted(split.bySource),
      byNode: sorted(split.byNode),
      byGroup: sorted(split.byGroup),
      byCase: sorted(split.byCase),
    })
    return {
      seed,
      templateVersion,
      trajectories: this.#trajectories,
      attacks: { train: sorted(this.#attacks.train), heldout: sorted(this.#attacks.heldout) },
      splits: { train: finish(this.#splits.train), heldout: finish(this.#splits.heldout) },
      rejected: sorted(this.#rejected),
    }
  }
}
