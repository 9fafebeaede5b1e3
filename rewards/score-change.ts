import type { Score } from '../data/records/reward.ts'

/** How one component's contribution to R differs. Null: the component did not exist on that side. */
export interface ComponentChange {
  readonly name: string
  readonly before: number | null
  readonly after: number | null
}

/** How the reward of one completion differs. Null as R: unscored, and the reason says why. */
export interface ScoreChange {
  readonly before: number | null
  readonly after: number | null
  readonly beforeReason: string | null
  readonly afterReason: string | null
  /** Only those that differ, by name. */
  readonly components: readonly ComponentChange[]
}

/** Contributions are sums of a few products: what is left below this is rounding. */
const rounding = 1e-9

const differs = (before: number | null, after: number | null): boolean =>
  before === null || after === null ? before !== after : !(Math.abs(after - before) <= rounding)

const total = (score: Score): number | null => (score.kind === 'scored' ? score.total : null)
const reason = (score: Score): string | null =>
  score.kind === 'unscored' ? `${score.component}: ${score.reason}` : null
const contribution = (score: Score, name: string): number | null =>
  score.kind === 'scored' ? (score.components[name]?.weighted ?? null) : null

const componentChanges = (before: Score, after: Score): ComponentChange[] => {
  // Beside an unscored completion every component differs, which says nothing.
  if (before.kind !== 'scored' || after.kind !== 'scored') return []
  const names = [...new Set([...Object.keys(before.components), ...Object.keys(after.components)])].toSorted()
  return names
    .map((name) => ({ name, before: contribution(before, name), after: contribution(after, name) }))
    .filter((change) => differs(change.before, change.after))
}

/**
 * What differs between two scores of one completion; null when the reward is the same: the same R from the same
 * contributions, or no reward on both sides. Texts that explain a score are no part of the reward.
 */
export const compareScores = (before: Score, after: Score): ScoreChange | null => {
  const components = componentChanges(before, after)
  if (components.length === 0 && !differs(total(before), total(after))) return null
  return {
    before: total(before),
    after: total(after),
    beforeReason: reason(before),
    afterReason: reason(after),
    components,
  }
}
