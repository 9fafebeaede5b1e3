import { hostname } from 'node:os'
import type { RunStatus } from '../../data/records/run.ts'
import type { Holder } from '../lock.ts'

const ended: ReadonlySet<string> = new Set(['finished', 'stopped', 'aborted', 'failed'])

/** Some twenty heartbeats, and room for two clocks that differ. */
const staleMs = 120_000

/** A process of another machine cannot be looked for; that its run has said nothing for long must do. */
const isSilent = ({ heartbeat, updatedAt }: RunStatus, now: number): boolean =>
  now - Date.parse(heartbeat?.at ?? updatedAt) > staleMs

/**
 * What a run is at, from its status and from who holds its lock. `lost`: it says that it runs, but its process is gone.
 * @param holder the live process that holds the lock; undefined when there is none
 */
export const liveState = (
  status: RunStatus,
  holder: Holder | undefined,
  now: number = Date.now(),
): RunStatus['state'] | 'lost' => {
  if (ended.has(status.state)) return status.state
  if (holder === undefined) return 'lost'
  const isElsewhere = holder.host !== hostname() && status.heartbeat !== undefined
  return isElsewhere && isSilent(status, now) ? 'lost' : status.state
}
