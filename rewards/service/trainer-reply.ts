import { ServiceError } from './errors.ts'
import type { ItemScorer, ScoredItem } from './score-items.ts'

/** A number for every component: its contribution, or 0 throughout where there is no reward. Trainers break on null. */
export const contributions = (scorer: ItemScorer, item: ScoredItem): Record<string, number> =>
  Object.fromEntries(
    scorer.names.map((name) => [name, item.total === null ? 0 : (item.components[name]?.weighted ?? 0)]),
  )

/** R as a share of its maximum, inside [0, 1]: what filters that know nothing of this reward can compare with. */
export const share = (scorer: ItemScorer, reward: number): number => Math.min(1, Math.max(0, reward / scorer.maximum))

/** Reads `?unscored=0.5`: the number that stands for a reward that could not be had. Undefined when it was not given. */
export const readSubstitute = (query: string | undefined): number | undefined => {
  if (query === undefined) return undefined
  const value = Number(query)
  if (query.trim() !== '' && Number.isFinite(value)) return value
  throw new ServiceError('invalid_body', `unscored: ${JSON.stringify(query.slice(0, 40))} is not a number`, {
    remedy: 'Write it as in ?unscored=0.',
  })
}

/** Parts of a request that can never be scored, however often it is sent. */
const unreadable = new Set(['label', 'query'])

/**
 * The reward of a sample, for trainers that have no word for "no reward". A sample that cannot be read is a refusal. One
 * that the judge failed on is an error that they try again, or the substitute that the user chose; never a zero of ours.
 */
export const rewardOf = ({ total, unscored }: ScoredItem, substitute: number | undefined, at = ''): number => {
  if (total !== null) return total
  const { component, reason } = unscored ?? { component: 'reward', reason: 'is missing' }
  if (unreadable.has(component)) throw new ServiceError('invalid_body', `${component}${at}: ${reason}`)
  if (substitute !== undefined) return substitute
  throw new ServiceError('unscored', `no reward: ${component}${at}: ${reason}`, {
    remedy: 'Try again; or ask with ?unscored=NUMBER to get that number instead.',
  })
}
