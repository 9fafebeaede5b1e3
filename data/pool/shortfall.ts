import type { Split } from '../records/prompt.ts'
import type { PoolReport } from './tally.ts'

const splitNames = { train: 'training', heldout: 'held-out' } as const satisfies Record<Split, string>

/** What a pool was asked for and does not hold, one line a split; empty when it is whole. */
export const shortfalls = ({ splits }: Pick<PoolReport, 'splits'>): string[] =>
  (['train', 'heldout'] as const).flatMap((split) => {
    const missing = Object.entries(splits[split].missing).filter(([, count]) => count > 0)
    if (missing.length === 0) return []
    const total = missing.reduce((sum, [, count]) => sum + count, 0)
    const byNode = missing.map(([node, count]) => `${node} ${count}`).join(', ')
    return [`the pool is ${total} ${splitNames[split]} prompts short of what was asked for: ${byNode}`]
  })
