import { createHash } from 'node:crypto'
import type { Hooks, OnTheWay, OnTheWayBack, Passing } from './relay.ts'

type Fault = Exclude<OnTheWay, 'pass'> | `reply ${Exclude<OnTheWayBack, 'pass'>}` | 'late reply'

const kinds: readonly Fault[] = ['cut', 'twice', 'again later', 'reply cut', 'reply half', 'reply short', 'late reply']

/** What happened to how many exchanges. */
export type Tally = Partial<Record<Fault | 'none', number>>

/**
 * Faults for a share of all exchanges, drawn from the seed, the request and how often it came: the same requests meet the same
 * faults in whatever order they come.
 */
export const faulty = (seed: number, share: number, tally: Tally = {}): Hooks => {
  const draw = ({ method, route, text, before }: Passing): Fault | 'none' => {
    const bytes = createHash('sha256').update(`${seed} ${method} ${route} ${before} ${text}`).digest()
    if (bytes.readUInt32BE(0) / 2 ** 32 >= share) return 'none'
    return kinds[bytes.readUInt32BE(4) % kinds.length] ?? 'none'
  }
  return {
    request: (passing) => {
      const fault = draw(passing)
      tally[fault] = (tally[fault] ?? 0) + 1
      return fault === 'cut' || fault === 'twice' || fault === 'again later' ? fault : 'pass'
    },
    reply: async (passing) => {
      const fault = draw(passing)
      if (fault === 'late reply') await new Promise((resolve) => setTimeout(resolve, 5))
      return fault === 'reply cut' || fault === 'reply half' || fault === 'reply short'
        ? (fault.slice('reply '.length) as OnTheWayBack)
        : 'pass'
    },
  }
}
