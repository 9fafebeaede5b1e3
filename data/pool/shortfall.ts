import type { Split } from '../records/prompt.ts'
import type { PoolReport } from './tally.ts'

const splitNames = { train: 'training', heldout: 'held-out' } as const satisfies Record<Split, string>

/**
 * What a pool was asked for and does not hold, one line a split; empty when it is whole. With `trainAsked` false nobody
 * asked for a number of training prompts: what is missing there is missing for a balance of the nodes.
 */
export const shortfalls = ({ splits }: Pick<PoolReport, 'splits'>, { trainAsked = true } = {}): string[] =>
  (['train', 'heldout'] as const).flatMap((split) => {
    const missing = Object.entries(splits[split].missing).filter(([, count]) => count > 0)
    if (missing.length === 0) return []
    const total = missing.reduce((sum, [, count]) => sum + count, 0)
    const byNode = missing.map(([node, count]) => `${node} ${count}`).join(', ')
    if (split === 'train' && !trainAsked)
      return [`the recordings hold too few training prompts for a balance: ${byNode} missing`]
    return [`the pool is ${total} ${splitNames[split]} prompts short of what was asked for: ${byNode}`]
  })

/** Says when the held-out split measures attacks that training has seen: what an evaluation on it can claim depends on it. */
export const knownAttacks = ({ attacks }: Pick<PoolReport, 'attacks'>): string[] => {
  const shared = Object.keys(attacks.heldout).filter((name) => name in attacks.train)
  if (shared.length === 0) return []
  return [
    `attack wordings in both splits: ${shared.join(', ')}. Tasks and payloads are kept apart, these are not: ` +
      'held-out results are about new tasks under known attacks, not about new attacks',
  ]
}
