import type { NodeId } from '../../data/records/node.ts'
import type { IndexProgress, RolloutRow } from './view.ts'

/** What the server tells the page of the judge. */

/** Scores of the judge over some steps. */
export interface JudgePeriod {
  /** Completions that it scored. */
  readonly n: number
  readonly mean: number
  readonly sd: number
  /** Share within a hundredth of the maximum. */
  readonly atMaximum: number
  /** Different scores, and their entropy in bits, both of hundredths. */
  readonly distinct: number
  readonly entropy: number
  /** Pearson correlations with what the other components gave, and with the length. Null: no spread. */
  readonly withRest: number | null
  readonly withLength: number | null
  /** What the other components gave to all completions, scored by the judge or not, as a share of all they can give; null where the run does not say how much that is. */
  readonly rest: number | null
  readonly tokens: number
  /** Deviation of the steps' mean lengths. */
  readonly tokensSd: number
  /** Share of groups that teach nothing: all completions earned the same, or too few have a reward. */
  readonly dead: number
}

/** Scores of the judge at one node, or at all of them. */
export interface JudgeScope {
  readonly node: NodeId | null
  /** Completions of the recent steps that got no reward because the judge failed. */
  readonly failed: number
  /** The latest steps and the first ones. */
  readonly recent: JudgePeriod | null
  readonly before: JudgePeriod | null
  /** By window of steps: the same of each, and how many scores fell into each tenth; the last number counts those at the maximum. */
  readonly windows: readonly {
    readonly n: number
    readonly mean: number | null
    readonly sd: number | null
    readonly atMaximum: number | null
    readonly withRest: number | null
    readonly withLength: number | null
    readonly counts: readonly number[]
  }[]
}

/** A rule about the judge, and where it fires. */
export interface JudgeHint {
  readonly title: string
  readonly rule: string
  readonly fired: readonly { readonly node: NodeId; readonly said: string }[]
  /** There are too few steps to tell. */
  readonly isOpen: boolean
}

export interface JudgeReply {
  readonly progress: IndexProgress
  /** First step on record, and the last one of each window. */
  readonly first: number
  readonly steps: readonly number[]
  readonly recent: readonly [from: number, to: number] | null
  readonly before: readonly [from: number, to: number] | null
  readonly scopes: readonly JudgeScope[]
  readonly hints: readonly JudgeHint[]
  /** Recent completions that the judge likes and the other components do not, by node, the widest gap first. */
  readonly suspects: readonly { readonly judge: number; readonly rest: number; readonly row: RolloutRow }[]
}
