import type { EvaluationStatistics } from '../../data/records/evaluation.ts'
import type { AuditReport } from '../../data/records/audit.ts'
import type { NodeId } from '../../data/records/node.ts'
import type { RegressionVerdict } from '../../data/records/regression.ts'
import type {
  EvaluationSample,
  EvaluationSummary,
  RunAttempt,
  RunEvent,
  RunMeta,
  RunStatus,
} from '../../data/records/run.ts'
import type { RolloutRecord } from '../../data/records/run.ts'
import type { Label } from './labels/store.ts'

/** What the server tells the pages: types only, so that a browser loads nothing of the server. */

/** `lost`: it says that it runs, but its process is gone. `unreadable`: `problem` says why. */
export type RunState = RunStatus['state'] | 'lost' | 'unreadable'

/** The evaluation that says what a run has come to. */
export interface Headline {
  readonly name: string
  readonly base: number | null
  readonly trained: number | null
  readonly delta: number | null
  /** 95 % interval of the change; null where the evaluation has no statistics beside it. */
  readonly interval: { readonly low: number; readonly high: number } | null
  /** The node with the smallest change. */
  readonly worst: { readonly node: NodeId; readonly delta: number } | null
}

export interface RunCard {
  readonly id: string
  readonly state: RunState
  readonly problem: string | null
  readonly model: string | null
  readonly step: number
  readonly steps: number
  readonly attempt: number
  readonly updatedAt: string
  /** Mean reward of the steps, thinned for a small curve. */
  readonly curve: readonly (number | null)[]
  readonly lastReward: number | null
  readonly rewardMaximum: number | null
  readonly heldout: Headline | null
  /** Rules that fire, and notes of the run itself. */
  readonly alerts: { readonly warnings: number; readonly notes: number }
}

export interface RunNames {
  readonly runs: readonly string[]
}

export interface RunList {
  readonly directory: string
  readonly runs: readonly RunCard[]
}

export interface Alert {
  readonly title: string
  /** The rule that fired, with its numbers. */
  readonly rule: string
  readonly level: 'warning' | 'note'
}

export interface Overview {
  readonly card: RunCard
  readonly status: RunStatus | null
  readonly meta: RunMeta | null
  readonly attempts: readonly RunAttempt[]
  readonly events: readonly RunEvent[]
  readonly alerts: readonly Alert[]
  /** Largest contribution of each component. */
  readonly maxima: Readonly<Record<string, number>>
  /** config.resolved.json, as it is. */
  readonly config: unknown
  readonly secondsLeft: number | null
  readonly evaluations: readonly EvaluationSummary[]
}

/** Columns of metrics.jsonl. Equal index, equal step. */
export interface Series {
  readonly steps: readonly number[]
  readonly attempts: readonly number[]
  readonly at: readonly string[]
  readonly values: Readonly<Record<string, readonly (number | null)[]>>
}

export interface SeriesReply {
  readonly current: Series
  /** What an attempt did and a later one did again, by attempt. */
  readonly superseded: readonly Series[]
}

export interface IndexProgress {
  readonly filesDone: number
  readonly files: number
  readonly rollouts: number
  /** Steps whose completions are not searched by text: there was no room for them. */
  readonly textsLeftOut: number
  /** Lines that could not be read. */
  readonly unreadable: number
}

/** One completion, as a list shows it. */
export interface RolloutRow {
  readonly step: number
  readonly attempt: number
  readonly group: number
  readonly sample: number
  readonly node: NodeId
  readonly promptId: string
  /** The component for which it is unscored. */
  readonly failedBy: string | null
  /** Null: unscored. */
  readonly total: number | null
  readonly advantage: number | null
  readonly tokens: number
  readonly finishReason: string
  readonly dead: boolean
  readonly components: Readonly<Record<string, number>>
  readonly excerpt: string
  /** What the judge gave, and why, in short; null: it was not asked. */
  readonly judge: { readonly score: number; readonly reason: string } | null
  /** What a reviewer said of it. */
  readonly label: Label | null
}

export interface RolloutPage {
  readonly progress: IndexProgress
  /** Older completions are still searched for the text. */
  readonly isSearching: boolean
  /** Why the search was given up. */
  readonly searchProblem: string | null
  readonly matches: number
  readonly page: number
  readonly pages: number
  readonly rows: readonly RolloutRow[]
  readonly components: readonly string[]
}

export interface PromptText {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly target: unknown
  readonly split: string
}

/** Another group of the same prompt. */
export interface GroupPlace {
  readonly step: number
  readonly group: number
  readonly mean: number | null
}

export interface GroupDetail {
  readonly record: Omit<RolloutRecord, 'group'> & {
    readonly group: Omit<RolloutRecord['group'], 'promptTokenIds' | 'completions'> & {
      readonly promptTokens: number
      readonly completions: readonly {
        readonly index: number
        readonly text: string
        readonly tokens: number
        readonly finishReason: string
        readonly meanLogprob: number | null
      }[]
    }
  }
  readonly prompt: PromptText | null
  /** The same prompt at other steps, this one included. */
  readonly places: readonly GroupPlace[]
  /** Completions of the base in evaluations of this prompt. */
  readonly base: readonly { readonly evaluation: string; readonly text: string; readonly total: number | null }[]
  /** What reviewers said of each completion, and whether more can be said. */
  readonly labels: readonly (Label | null)[]
  readonly takesLabels: boolean
}

export interface NodeSummary {
  readonly node: NodeId
  readonly steps: readonly number[]
  /** Quantiles 10, 25, 50, 75 and 90 % of R by step. */
  readonly quantiles: readonly (readonly number[])[]
  readonly groups: readonly number[]
  readonly dead: readonly number[]
  readonly truncated: readonly number[]
  readonly meanTokens: readonly number[]
  /** Completions at each step. */
  readonly completions: readonly number[]
  readonly best: readonly RolloutRow[]
  readonly worst: readonly RolloutRow[]
  /** Steps that best and worst are taken from. */
  readonly recent: readonly [from: number, to: number] | null
}

export interface NodeReply {
  readonly progress: IndexProgress
  readonly nodes: readonly NodeSummary[]
}

export interface ComponentCell {
  readonly node: NodeId
  readonly component: string
  readonly n: number
  readonly mean: number
  /** Mean over the first recorded steps, as many as for the recent ones. */
  readonly before: number | null
  readonly atMaximum: number
  readonly atMinimum: number
  /** Unscored because of this component. */
  readonly failed: number
}

export interface ComponentReply {
  readonly progress: IndexProgress
  readonly components: readonly string[]
  readonly maxima: Readonly<Record<string, number>>
  readonly recent: readonly [from: number, to: number] | null
  readonly cells: readonly ComponentCell[]
  /** Pearson correlations over recent completions; last row and column: tokens. Null: no spread. */
  readonly correlations: readonly (readonly (number | null)[])[]
  /** Largest difference between a total and the sum of its contributions. */
  readonly sumError: number
}

export interface EvaluationReply {
  readonly summary: EvaluationSummary
  readonly headline: string
  /** Null where the gate refuses one: the headline says why. */
  readonly verdict: RegressionVerdict | null
  readonly statistics: EvaluationStatistics
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly notes: readonly string[]
}

/** The same prompts at several checkpoints, under equal conditions. */
export interface EvaluationHistory {
  readonly points: readonly { readonly name: string; readonly step: number }[]
  /** Evaluations under other conditions, or without statistics beside them. */
  readonly leftOut: readonly string[]
  /** Rewards at those points; null where a prompt has none there. */
  readonly prompts: readonly {
    readonly promptId: string
    readonly node: NodeId
    readonly base: number
    readonly trained: readonly (number | null)[]
  }[]
}

export interface EvaluationPrompt {
  readonly prompt: PromptText | null
  readonly base: readonly Pick<EvaluationSample, 'seed' | 'score' | 'verdict' | 'exactlyRight'>[]
  readonly trained: readonly Pick<EvaluationSample, 'seed' | 'score' | 'verdict' | 'exactlyRight'>[]
  readonly texts: { readonly base: readonly string[]; readonly trained: readonly string[] }
}

export type AuditReply = AuditReport

/** Why a request has no answer. */
export interface Problem {
  readonly error: string
  readonly remedy: string | null
}
